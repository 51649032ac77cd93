/* Kernels on the fake CUDA driver: what is launched is what was compiled for a GPU, with its arguments as they
 * are packed for it; what runs is the body compiled here.
 *
 *     KNOWN_KERNEL(axpy)                     behind HA_KERNEL(axpy, …)
 *     know_kernel(&axpy_known);              before the first launch, after each reset of the driver
 *     know_records(&drift_known, C, r);      the same of a kernel with records r, before each launch where their
 *                                            layout or extents are others than before */
#ifndef HARRAY_TESTS_SUPPORT_FAKE_KERNELS_H
#define HARRAY_TESTS_SUPPORT_FAKE_KERNELS_H

#include "cuda_launch.h"

typedef struct known_kernel {
    const ha_kernel *kernel;
    fake_cuda_body run;
} known_kernel;

#define KNOWN_KERNEL(name)                                                                         \
    static void name##_run(void **given, const fake_cuda_launch *launch) {                         \
        run_known_kernel(&name##_kernel, given, launch);                                           \
    }                                                                                              \
    static const known_kernel name##_known = {&name##_kernel, name##_run};

/* Of the records of the kernel that is launched, there. */
static const ha_mapping *known_mapping;

static int64_t given_number(void ***given) {
    int64_t number;
    memcpy(&number, *(*given)++, sizeof number);
    return number;
}

/* One launch of a reduction: what its parameters say behind those of the kernel. */
static void run_known_reduction(const ha_kernel *k, const ha_region *box,
                                const ha_kernel_slot_ *slot, void *result, void **given,
                                const fake_cuda_launch *launch) {
    const ha_reduction_ *r = k->reduction;
    char *place[2];
    for (int i = 0; i < 2; i++) { /* from, to */
        memcpy(&place[i], *given++, sizeof place[i]);
        const int64_t behind = given_number(&given);
        if (place[i]) place[i] = HA_HERE(&launch->own, char, place[i] + behind);
    }
    const int64_t part0 = given_number(&given), all = given_number(&given);
    const int64_t step = given_number(&given);
    for (int64_t i = 0; i < (int64_t)launch->grid[0] * HA_REDUCTION_PARTS; i++) {
        const int64_t part = part0 + i, first = part * HA_PART_LANES_;
        const int64_t n = all - first < HA_PART_LANES_ ? all - first : HA_PART_LANES_;
        _Alignas(16) char sums[HA_SUMS_ * HA_PARTIAL_BYTES_], partial[HA_PARTIAL_BYTES_];
        if (n <= 0 && part > 0) return;
        for (int64_t j = 0; j < n && (step & HA_STEP_OF_PARTS); j++)
            r->add(sums, j, place[0] + (size_t)(first + j) * r->partial_bytes);
        if (step & HA_STEP_OF_PARTS)
            r->join(sums, n, partial);
        else if (n > 0)
            r->parts(k, box, first, first + n, 0, slot, partial);
        if (step & HA_STEP_LAST)
            r->end(n > 0 ? partial : NULL, result);
        else
            memcpy(place[1] + (size_t)part * r->partial_bytes, partial, r->partial_bytes);
    }
}

/* The blobs of records, as functions there reach them. */
static void given_blobs(const ha_mapping *m, void **blob, void ***given,
                        const fake_cuda_launch *launch) {
    for (int d = 0; d < m->rank; d++)
        if (given_number(given) != m->extent[d]) abort();
    for (int b = 0; b < m->blobs; b++) {
        memcpy(&blob[b], *(*given)++, sizeof blob[b]);
        blob[b] = HA_HERE(&launch->own, char, (char *)blob[b] + given_number(given));
    }
}

/* A view of them. */
static void *given_view(const ha_kernel_parameter_ *p, void ***given,
                        const fake_cuda_launch *launch) {
    void *blob[200], *view = malloc(p->bytes);
    ha_error error;
    if (known_mapping->blobs > 200) abort();
    given_blobs(known_mapping, blob, given, launch);
    if (ha_make_view(p->records, known_mapping, blob, view, &error)) abort();
    return view;
}

/* The order is that of the entry's parameters in the kernel's text. */
static HA_UNUSED void run_known_kernel(const ha_kernel *k, void **given,
                                       const fake_cuda_launch *launch) {
    ha_kernel_slot_ slot[HA_MOST_ARGUMENTS_];
    ha_kernel_span span[HA_MOST_ARGUMENTS_];
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int arguments = ha_kernel_leaves(k, leaf);
    ha_region box = {{0}, {0}};
    int apart = 1;
    for (int d = 0; d < k->rank; d++) {
        box.first[d] = given_number(&given);
        box.last[d] = given_number(&given);
    }
    for (int i = 0; i < arguments; i++) {
        const ha_kernel_parameter_ *p = leaf[i].parameter;
        char *first;
        slot[i] = (ha_kernel_slot_){.span = ha_is_array(p) && p->rank ? &span[i] : NULL};
        if (!ha_is_array(p)) {
            if (p->mode == HA_KERNEL_VALUE_) slot[i].pointer = *given++;
            if (p->mode == HA_KERNEL_RECORDS_) slot[i].pointer = given_view(p, &given, launch);
            continue;
        }
        memcpy(&first, *given++, sizeof first);
        const int64_t behind = given_number(&given);
        if (first) first += behind;
        slot[i].size = given_number(&given);
        for (int n = 0; n < 3 * p->rank; n++) span[i].numbers[n] = given_number(&given);
        if (first) first = HA_HERE(&launch->own, char, first);
        for (int d = 0; d < p->rank && first; d++)
            first -= span[i].numbers[2 * p->rank + d] * span[i].numbers[p->rank + d] *
                     (int64_t)p->bytes;
        if (p->rank) apart = 0;
        slot[i].pointer = first;
    }
    if (k->reduction)
        run_known_reduction(k, &box, slot, slot[arguments - 1].pointer, given, launch);
    else
        k->loops(k, &box, apart && k->parameters == 1, slot);
    for (int i = 0; i < arguments; i++)
        if (leaf[i].parameter->mode == HA_KERNEL_RECORDS_) free(slot[i].pointer);
}

/* The bytes of the entry's parameters. */
static size_t known_sizes(const ha_kernel *k, size_t *sizes) {
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int arguments = ha_kernel_leaves(k, leaf);
    size_t n = 0;
    for (int d = 0; d < 2 * k->rank; d++) sizes[n++] = sizeof(int64_t);
    for (int i = 0; i < arguments; i++) {
        const ha_kernel_parameter_ *p = leaf[i].parameter;
        const size_t numbers = ha_is_array(p) ? 3 + 3 * (size_t)p->rank : 0;
        for (int j = 0; p->mode == HA_KERNEL_RECORDS_ &&
                        j < known_mapping->rank + 2 * (int)known_mapping->blobs;
             j++)
            sizes[n++] = sizeof(int64_t);
        if (p->mode == HA_KERNEL_VALUE_) sizes[n++] = p->bytes;
        for (size_t j = 0; j < numbers; j++) sizes[n++] = sizeof(int64_t);
    }
    for (int i = 0; i < 7 && k->reduction; i++) sizes[n++] = sizeof(int64_t);
    return n;
}

static HA_UNUSED void know_kernel(const known_kernel *known) {
    size_t sizes[HA_MOST_ARGUMENTS + HA_MOST_PARAMETERS_];
    char entry[100];
    if (!cuda_fake()) return;
    snprintf(entry, sizeof entry, "ha_entry_%s", known->kernel->name);
    cuda_fake()->register_kernel(entry, known->run, known_sizes(known->kernel, sizes), sizes);
}

/* Whether kernels of a context run on the fake driver. */
static HA_UNUSED int is_fake(ha_context *c) {
    return cuda_fake() &&
           (!strcmp(ha_context_kind(c), "cuda") || !strcmp(ha_context_kind(c), "launch"));
}

/* Whether they give the bits that they give on the host. */
static HA_UNUSED int computes_as_the_host(ha_context *c) {
    return is_fake(c) || ha_context_is_exact(c);
}

static HA_UNUSED void know_records(const known_kernel *known, ha_context *c, ha_records *records) {
    /* What was launched before has to have looked at the mapping of its own records. */
    if (ha_context_finish(c)) abort();
    known_mapping = ha_records_mapping(records, c);
    know_kernel(known);
}

#endif
