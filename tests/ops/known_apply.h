/* Arithmetic with records on the fake driver. What is launched is compiled for a GPU, with its arguments as they are packed
 * for it; what runs is the loops of the host, over the box and the blobs that are given.
 *
 *     know_number(r, HA_ADD, 2, &how);       each before such a call at C
 *     know_records_with(l, HA_ADD, r, &how);
 *     know_elements(r, HA_ADD, x, &how); */
#ifndef HARRAY_TESTS_OPS_KNOWN_APPLY_H
#define HARRAY_TESTS_OPS_KNOWN_APPLY_H

#include "../support/fake_kernels.h"

enum { MOST_SIZES = HA_ARGUMENT_BYTES / 8 + 1 };

/* A device may round in another way. On the fake driver it is tried once, where a device's memory is its own. */
static int is_not_for_it(void) {
    return !computes_as_the_host(C) || (is_fake(C) && strcmp(ha_context_kind(C), "launch") != 0);
}

/* The call that is next, and where its records are. */
static ha_apply_call known_number;
static ha_join_call known_join;
static ha_beside_call known_beside;
static ha_applying known_how;
static char known_paths[400];
static const ha_mapping *known_left, *known_right;
static int known_used[HA_APPLY_ROUNDINGS]; /* of the numbers that are given */

/* ---- what runs, on a device that needs no memory for it ----------------------------------------------------------------------------------- */

static ha_region given_box(void ***given, int rank) {
    ha_region box = ha_box1(0, 1);
    for (int d = 0; d < rank; d++) {
        box.first[d] = (ptrdiff_t)given_number(given);
        box.last[d] = (ptrdiff_t)given_number(given);
    }
    return box;
}

/* Numbers are rounded to each type. */
HA_UNUSED static void check_given_numbers(void **given) {
    for (int i = 0; i < HA_APPLY_ROUNDINGS; i++) {
        const float rounded = ha_apply_rounded(known_number.number, i);
        const int is_double = i == HA_NOT_ROUNDED;
        if (known_used[i] &&
            memcmp(*given++, is_double ? (const void *)&known_number.number : &rounded,
                   is_double ? sizeof(double) : sizeof rounded))
            abort();
    }
}

static void run_number(void **given, const fake_cuda_launch *launch) {
    void *blob[MOST_SIZES];
    ha_apply_here_work w = {.call = &known_number, .access = {.mapping = known_left}};
    w.access.box = given_box(&given, known_left->rank);
    given_blobs(known_left, blob, &given, launch);
    check_given_numbers(given);
    is_spared = 1;
    ha_apply_loops(&w, blob);
    is_spared = 0;
    if (w.loop.status) abort();
}

static void run_join(void **given, const fake_cuda_launch *launch) {
    void *left[MOST_SIZES], *right[MOST_SIZES];
    int64_t shift[HA_MAPPING_RANK] = {0};
    ha_join_call c = known_join;
    const ha_applying how = {.paths = c.how->paths, .shift = shift};
    ha_join_work w = {
        .call = &c, .left = {.mapping = known_left}, .right = {.mapping = known_right}};
    c.how = &how;
    c.box = given_box(&given, known_left->rank);
    given_blobs(known_left, left, &given, launch);
    if (!c.is_self) given_blobs(known_right, right, &given, launch);
    for (int d = 0; d < known_left->rank && c.is_shifted; d++) shift[d] = given_number(&given);
    is_spared = 1;
    ha_join_loops(&w, left, c.is_self ? left : right);
    is_spared = 0;
    if (w.loop.status) abort();
}

/* The element at index 0. */
static char *given_elements(darray *x, void ***given, const fake_cuda_launch *launch) {
    char *data;
    memcpy(&data, *(*given)++, sizeof data);
    data = HA_HERE(&launch->own, char, data + given_number(given));
    (void)given_number(given);
    for (int d = 0; d < x->rank; d++) x->extent[d] = given_number(given);
    for (int d = 0; d < x->rank; d++) x->stride[d] = given_number(given);
    for (int d = 0; d < x->rank; d++)
        data -= given_number(given) * x->stride[d] * (int64_t)ha_dtype_size(x->type);
    return data;
}

static void run_elements(void **given, const fake_cuda_launch *launch) {
    void *blob[MOST_SIZES];
    ha_beside_call c = known_beside;
    ha_beside_work w;
    w.call = &c;
    w.records.mapping = known_left;
    c.apply.box = given_box(&given, known_left->rank);
    given_blobs(known_left, blob, &given, launch);
    w.data = given_elements(&c.x, &given, launch);
    c.pairing = (ha_pairing){.left = known_left->record, .right = known_left->record};
    is_spared = 1;
    if (ha_pairing_make(&c.pairing, known_left->rows, known_left->rows, c.apply.how->paths))
        abort();
    ha_beside_loops(&w, blob);
    is_spared = 0;
    HARRAY_FREE(c.pairing.pair);
}

/* ---- what is known ------------------------------------------------------------------------------- */

/* Nothing runs any more for which another call was next. */
static const ha_applying *begin_to_know(ha_records *records, const ha_applying *how) {
    assert_int_equal(ha_context_finish(C), HA_OK);
    known_left = ha_records_mapping(records, C);
    assert_non_null(known_left);
    known_how = (ha_applying){.paths = NULL};
    if (how && how->paths) {
        snprintf(known_paths, sizeof known_paths, "%s", how->paths);
        known_how.paths = known_paths;
    }
    return &known_how;
}

/* So many places and numbers of 64 bits, then floats, then doubles. What has more than there may be is no kernel. */
static void know_entry(const char *name, fake_cuda_body run, size_t numbers, size_t floats,
                       size_t doubles) {
    const size_t n = numbers + floats + doubles;
    size_t sizes[MOST_SIZES];
    char entry[100];
    if (n > MOST_SIZES) return;
    for (size_t i = 0; i < n; i++)
        sizes[i] = i >= numbers && i < numbers + floats ? sizeof(float) : sizeof(int64_t);
    snprintf(entry, sizeof entry, "ha_entry_%s", name);
    cuda_fake()->register_kernel(entry, run, n, sizes);
}

static size_t numbers_of_box(void) { return 2 * (size_t)known_left->rank; }
static size_t numbers_of(const ha_mapping *m) { return (size_t)m->rank + 2 * (size_t)m->blobs; }

HA_UNUSED static void know_number(ha_records *records, ha_operator op, double number,
                                  const ha_applying *how) {
    if (!is_fake(C)) return;
    how = begin_to_know(records, how);
    known_number = (ha_apply_call){.operation = op, .number = number, .how = how};
    ha_pairing p = {.left = known_left->record, .right = known_left->record};
    memset(known_used, 0, sizeof known_used);
    assert_int_equal(ha_pairing_make(&p, known_left->rows, known_left->rows, how->paths), HA_OK);
    for (int64_t k = 0; k < p.pairs; k++) known_used[ha_apply_rounding_of(p.pair[k].to.type)] = 1;
    HARRAY_FREE(p.pair);
    const int floats = known_used[HA_ROUNDED_TO_HALF] + known_used[HA_ROUNDED_TO_BFLOAT16] +
                       known_used[HA_ROUNDED_TO_FLOAT];
    know_entry(ha_apply_name, run_number, numbers_of_box() + numbers_of(known_left), (size_t)floats,
               (size_t)known_used[HA_NOT_ROUNDED]);
}

HA_UNUSED static void know_records_with(ha_records *records, ha_operator op, ha_records *other,
                                        const ha_applying *how) {
    if (!is_fake(C)) return;
    const int64_t *shift = how ? how->shift : NULL;
    how = begin_to_know(records, how);
    known_right = ha_records_mapping(other, C);
    assert_non_null(known_right);
    known_join = (ha_join_call){.operation = op,
                                .how = how,
                                .is_self = records == other,
                                .is_one = records != other && ha_records_size(other) == 1};
    for (int d = 0; d < known_left->rank && shift && !known_join.is_one; d++)
        known_join.is_shifted |= shift[d] != 0;
    know_entry(ha_join_name, run_join,
               numbers_of_box() + numbers_of(known_left) +
                   (known_join.is_self ? 0 : numbers_of(known_right)) +
                   (known_join.is_shifted ? (size_t)known_left->rank : 0),
               0, 0);
}

HA_UNUSED static void know_elements(ha_records *records, ha_operator op, darray x,
                                    const ha_applying *how) {
    if (!is_fake(C)) return;
    how = begin_to_know(records, how);
    known_beside = (ha_beside_call){.apply = {.operation = op, .how = how}, .x = x};
    know_entry(ha_beside_name, run_elements,
               numbers_of_box() + numbers_of(known_left) + 3 + 3 * (size_t)x.rank, 0, 0);
}

#endif
