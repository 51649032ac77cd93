/* Elements that are no numbers, on every context: moved by index, by masks and by keys, from and to arrays' own memory and memory of
 * the caller's that is aligned for nothing; and what is refused of them, which changes nothing. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { MOST_BYTES = 40 };
static const ha_type moved_types[] = {
    {"one", 1}, {"two", 2}, {"four", 4}, {"eight", 8}, {"wide", 16}};
static const ha_type other_types[] = {{"color", 3}, {"triangle", 12}, {"cell", 24}, {"orbit", 40}};
enum {
    MOVED_TYPES = sizeof moved_types / sizeof *moved_types,
    OTHER_TYPES = sizeof other_types / sizeof *other_types
};
static const ha_dtype index_types[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                       HA_DTYPE_uint64_t};

/* ---- views of structs --------------------------------------------------------------------------- */

typedef struct structs {
    darray view;
    char *memory;      /* of the caller's; NULL: the array has its own */
    ha_context *where; /* H where it has none */
} structs;

/* What a view has, element by element. */
typedef struct contents {
    int n;
    char at[MOST_VALUES][MOST_BYTES];
} contents;
static contents of_x, of_y;
static values of_at;

static void fill_bytes(ha_array *a) {
    ha_access v;
    SUCCEEDS(ha_open(&v, a, H, HA_OVERWRITE, 0, HA_END));
    for (size_t i = 0; i < v.size * a->element; i++)
        ((char *)(uintptr_t)v.data)[i] = (char)draw(256);
    SUCCEEDS(ha_close(&v));
}

/* The steps of some view of bytes, over an array of structs. The caller's begins at an odd address. */
static structs some_structs(ha_type type, int rank, const int64_t *extent, int may_repeat,
                            int is_callers) {
    structs x = {.view = some_view(HA_DTYPE_uint8_t, rank, extent, may_repeat), .where = H};
    const size_t n = ha_array_size(x.view.array);
    drop_array(x.view.array);
    if (is_callers && n) {
        x.where = draw(2) ? C : H;
        x.memory = ha_memory_allocate(x.where, n * type.size + 1);
        assert_non_null(x.memory);
        const ha_wrapped piece = {x.memory + 1, x.where, HA_WRAP_UNWRITTEN};
        x.view.array = ha_array_wrap(type, n, &piece, 1);
    } else {
        x.view.array = ha_array_new(type, n, draw(2) ? C : H);
    }
    assert_non_null(keep_array(x.view.array));
    x.view.type = HA_DTYPE_NONE;
    fill_bytes(x.view.array);
    return x;
}

static void drop_structs(structs *x) {
    drop_array(x->view.array);
    SUCCEEDS(ha_memory_release(x->where, x->memory));
}

static void read_structs(const structs *x, contents *c) {
    const darray *v = &x->view;
    int64_t index[HA_MOST_RANK] = {0};
    ha_access a;
    c->n = 0;
    if (darray_size(*v) == 0) return;
    SUCCEEDS(ha_open(&a, v->array, H, HA_READ, 0, HA_END));
    int d;
    do {
        int64_t place = v->offset;
        for (int e = 0; e < v->rank; e++) place += index[e] * v->stride[e];
        memcpy(c->at[c->n++], (const char *)a.data + place * (int64_t)v->array->element,
               v->array->element);
        d = v->rank - 1;
        while (d >= 0 && ++index[d] == v->extent[d]) index[d--] = 0;
    } while (d >= 0);
    SUCCEEDS(ha_close(&a));
}

static void expect_structs(const structs *x, const contents *expected, const char *what) {
    static contents now;
    const ha_array *a = x->view.array;
    read_structs(x, &now);
    assert_int_equal(now.n, expected->n);
    for (int i = 0; i < now.n; i++)
        if (memcmp(now.at[i], expected->at[i], a->element) != 0)
            fail_msg("%s of %zu bytes%s, rank %d: element %d is another one", what, a->element,
                     x->memory ? ", the caller's" : "", x->view.rank, i);
}

/* Indices below n. */
static darray some_indices(ha_dtype type, int rank, const int64_t *extent, int64_t n) {
    const darray at = some_view(type, rank, extent, 1);
    ha_access v;
    SUCCEEDS(ha_open(&v, at.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = wrapped(type, (wide)draw((uint32_t)n));
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(type), number.bytes,
               ha_dtype_size(type));
    }
    SUCCEEDS(ha_close(&v));
    read_values(at, &of_at);
    return at;
}

/* ---- by index ------------------------------------------------------------------------------------ */

/* at, what is indexed, and what has the extents of both. */
typedef struct by_index {
    darray at;
    structs indexed, all;
    int64_t rest;
} by_index;

static by_index some_by_index(ha_type type, int writes_all, int is_callers) {
    int64_t of_indices[2], of_indexed[3], of_both[4];
    const int rank = 1 + (int)draw(2), others = (int)draw(3);
    by_index b = {.rest = 1};
    for (int d = 0; d < rank; d++) of_both[d] = of_indices[d] = draw(12) ? 1 + draw(5) : 0;
    of_indexed[0] = 1 + draw(6);
    for (int d = 0; d < others; d++) {
        of_both[rank + d] = of_indexed[1 + d] = 1 + draw(4);
        b.rest *= of_indexed[1 + d];
    }
    b.at = some_indices(index_types[draw(4)], rank, of_indices, of_indexed[0]);
    b.indexed = some_structs(type, 1 + others, of_indexed, writes_all, is_callers & 1);
    b.all = some_structs(type, rank + others, of_both, !writes_all, is_callers >> 1);
    return b;
}

static void drop_by_index(by_index *b) {
    drop_array(b->at.array);
    drop_structs(&b->indexed), drop_structs(&b->all);
}

static void gather_some(ha_type type, int is_callers) {
    by_index b = some_by_index(type, 1, is_callers);
    read_structs(&b.indexed, &of_x);
    SUCCEEDS(ha_gather(b.all.view, b.indexed.view, b.at, C));
    of_y.n = 0;
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < b.rest; r++)
            memcpy(of_y.at[of_y.n++], of_x.at[(int64_t)wide_of(of_at.at[i]) * b.rest + r],
                   MOST_BYTES);
    expect_structs(&b.all, &of_y, "gathered elements");
    drop_by_index(&b);
}

static void scatter_some(ha_type type, int is_callers) {
    by_index b = some_by_index(type, 0, is_callers);
    read_structs(&b.indexed, &of_y);
    read_structs(&b.all, &of_x);
    SUCCEEDS(ha_scatter(HA_ASSIGN, b.indexed.view, b.at, b.all.view, C));
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < b.rest; r++)
            memcpy(of_y.at[(int64_t)wide_of(of_at.at[i]) * b.rest + r], of_x.at[i * b.rest + r],
                   MOST_BYTES);
    expect_structs(&b.indexed, &of_y, "scattered elements");
    drop_by_index(&b);
}

/* ---- by a mask, and by keys ---------------------------------------------------------------------- */

static void compact_some(ha_type type, int is_callers) {
    int64_t extent[HA_MOST_RANK], count = -1;
    const int rank = some_extents(extent);
    const darray mask = some_indices(HA_DTYPE_uint8_t, rank, extent, 2);
    structs x = some_structs(type, rank, extent, 1, is_callers & 1);
    const int64_t room = of_at.n + (int64_t)draw(3);
    structs y = some_structs(type, 1, &room, 0, is_callers >> 1);
    int n = 0;
    read_structs(&x, &of_x);
    read_structs(&y, &of_y);
    SUCCEEDS(ha_compact(y.view, x.view, mask, &count, C));
    for (int i = 0; i < of_at.n; i++)
        if (of_at.at[i].bytes[0]) memcpy(of_y.at[n++], of_x.at[i], MOST_BYTES);
    assert_int_equal(count, n);
    expect_structs(&y, &of_y, "compacted elements");
    drop_array(mask.array), drop_structs(&x), drop_structs(&y);
}

/* Few different keys: equal ones keep the order of what belongs to them. */
static void sort_some(ha_type type, int is_callers) {
    const int64_t n = (int64_t)draw(60), both[] = {n, 1 + (int64_t)draw(3)};
    const int rank = 1 + (int)draw(2), width = rank == 2 ? (int)both[1] : 1;
    const darray some = some_indices(HA_DTYPE_int32_t, 1, &n, 8);
    const darray keys = darray_contiguous(some, HA_ROW_MAJOR, C);
    structs values_of = some_structs(type, rank, both, 0, is_callers & 1);
    keep_array(keys.array);
    read_structs(&values_of, &of_x);
    SUCCEEDS(ha_sort_by_key(keys, values_of.view, HA_ASCENDING, C));
    of_y.n = 0;
    for (int key = 0; key < 8; key++)
        for (int i = 0; i < (int)n; i++)
            for (int k = 0; k < width && wide_of(of_at.at[i]) == key; k++)
                memcpy(of_y.at[of_y.n++], of_x.at[i * width + k], MOST_BYTES);
    expect_structs(&values_of, &of_y, "sorted elements");
    drop_array(some.array), drop_array(keys.array), drop_structs(&values_of);
}

typedef void moving(ha_type type, int is_callers);

/* Nothing, what is read, what is written, and both are in memory of the caller's. */
static void move_all(moving *move, int i) {
    const int rounds = share_of(4);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < MOVED_TYPES; t++)
            for (int is_callers = 0; is_callers < 4; is_callers++)
                if (is_tried_here(round, t + MOVED_TYPES * is_callers, i))
                    move(moved_types[t], is_callers);
}

TEST(gathered) { move_all(gather_some, 0); }
TEST(scattered) { move_all(scatter_some, 1); }
TEST(compacted) { move_all(compact_some, 2); }
TEST(sorted_by_key) { move_all(sort_some, 3); }

/* So many that they are sorted on a device. */
TEST(scattered_in_runs) {
    const int64_t n = 100, places = 9;
    for (int t = 0; t < MOVED_TYPES; t++) {
        if (!is_tried_here(0, 1, t)) continue;
        const darray at = some_indices(HA_DTYPE_int32_t, 1, &n, places);
        structs x = some_structs(moved_types[t], 1, &n, 1, t % 2);
        structs y = some_structs(moved_types[t], 1, &places, 0, 0);
        read_structs(&x, &of_x), read_structs(&y, &of_y);
        SUCCEEDS(ha_scatter(HA_ASSIGN, y.view, at, x.view, C));
        for (int i = 0; i < of_at.n; i++)
            memcpy(of_y.at[(int)wide_of(of_at.at[i])], of_x.at[i], MOST_BYTES);
        expect_structs(&y, &of_y, "elements scattered in runs");
        drop_array(at.array), drop_structs(&x), drop_structs(&y);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *operation, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, part)) fail_msg("\"%s\" does not say \"%s\"", e.text, part);
}

/* By whatever moves: elements of other sizes, and two types of one size. */
static void refuse_to_move(ha_status expected, const structs *y, const structs *x, darray at,
                           darray mask, const char *part) {
    int count = 7;
    refused(expected, ha_gather(y->view, x->view, at, C), "ha_gather", part);
    refused(expected, ha_scatter(HA_ASSIGN, y->view, at, x->view, C), "ha_scatter", part);
    refused(expected, ha_compact(y->view, x->view, mask, &count, C), "ha_compact", part);
    refused(expected, ha_unique(y->view, x->view, &count, C), "ha_unique", part);
    assert_int_equal(count, 7);
    expect_structs(x, &of_x, "elements that stay");
    expect_structs(y, &of_y, "elements that stay");
}

TEST(other_sizes) {
    const int64_t n = 6;
    const darray at = some_indices(HA_DTYPE_int32_t, 1, &n, n);
    const darray mask = some_indices(HA_DTYPE_uint8_t, 1, &n, 2);
    for (int t = 0; t < OTHER_TYPES; t++) {
        char part[80];
        structs x = some_structs(other_types[t], 1, &n, 0, t % 2);
        structs y = some_structs(other_types[t], 1, &n, 0, 0);
        const darray keys = darray_contiguous(at, HA_ROW_MAJOR, H);
        keep_array(keys.array);
        snprintf(part, sizeof part, "elements of %zu bytes: those of 1, 2, 4, 8 and 16",
                 other_types[t].size);
        read_structs(&x, &of_x), read_structs(&y, &of_y);
        refuse_to_move(HA_ERR_UNSUPPORTED, &y, &x, at, mask, part);
        refused(HA_ERR_UNSUPPORTED, ha_sort_by_key(keys, y.view, HA_ASCENDING, C), "ha_sort_by_key",
                part);
        expect_structs(&y, &of_y, "elements that stay");
        drop_array(keys.array), drop_structs(&x), drop_structs(&y);
    }
    drop_array(at.array), drop_array(mask.array);
}

TEST(of_two_types) {
    const int64_t n = 6;
    const darray at = some_indices(HA_DTYPE_int32_t, 1, &n, n);
    const darray mask = some_indices(HA_DTYPE_uint8_t, 1, &n, 2);
    structs x = some_structs(moved_types[3], 1, &n, 0, 0);
    structs y = some_structs((ha_type){"other", 8}, 1, &n, 0, 0);
    read_structs(&x, &of_x), read_structs(&y, &of_y);
    refuse_to_move(HA_ERR_ARGUMENT, &y, &x, at, mask, "types are not the same");
    drop_array(at.array), drop_array(mask.array), drop_structs(&x), drop_structs(&y);
}

/* What computes or compares is not there for them. */
TEST(nothing_is_computed) {
    const int64_t n = 6;
    structs x = some_structs(moved_types[3], 1, &n, 0, 0);
    structs y = some_structs(moved_types[3], 1, &n, 0, 0);
    const darray mask = some_indices(HA_DTYPE_uint8_t, 1, &n, 2);
    static const char none[] = "its elements are no numbers";
    int count = 7;
    read_structs(&x, &of_x), read_structs(&y, &of_y);
    refused(HA_ERR_ARGUMENT, ha_map(HA_NEGATE, y.view, x.view, C), "ha_map", none);
    refused(HA_ERR_ARGUMENT, ha_combine(HA_IS_EQUAL, mask, x.view, y.view, C), "ha_combine", none);
    refused(HA_ERR_ARGUMENT, ha_where(y.view, mask, x.view, x.view, C), "ha_where", none);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_SUM, x.view, &count, C), "ha_reduce", none);
    refused(HA_ERR_ARGUMENT, ha_scan(HA_SUM, y.view, x.view, HA_INCLUSIVE, C), "ha_scan", none);
    refused(HA_ERR_ARGUMENT, ha_sort(x.view, HA_ASCENDING, C), "ha_sort", "no order");
    refused(HA_ERR_ARGUMENT, ha_unique(y.view, x.view, &count, C), "ha_unique", none);
    assert_int_equal(count, 7);
    expect_structs(&x, &of_x, "elements that stay");
    expect_structs(&y, &of_y, "elements that stay");
    drop_array(mask.array), drop_structs(&x), drop_structs(&y);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(gathered),          OPERATIONS(scattered),           OPERATIONS(compacted),
        OPERATIONS(sorted_by_key),     OPERATIONS(other_sizes),         OPERATIONS(of_two_types),
        OPERATIONS(scattered_in_runs), OPERATIONS(nothing_is_computed),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
