/* Sorts of so many elements that their digits are counted, or that they are several blocks of a device: against qsort, with the order
 * written down a second time. Behind some_views.h. */
#ifndef HARRAY_TESTS_OPS_MANY_KEYS_H
#define HARRAY_TESTS_OPS_MANY_KEYS_H

static const ha_dtype index_types[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                       HA_DTYPE_uint64_t};

static const ha_dtype sorted_types[] = {HA_DTYPE_int8_t,   HA_DTYPE_int16_t,  HA_DTYPE_int32_t,
                                        HA_DTYPE_int64_t,  HA_DTYPE_uint8_t,  HA_DTYPE_uint16_t,
                                        HA_DTYPE_uint32_t, HA_DTYPE_uint64_t, HA_DTYPE_bfloat16,
                                        HA_DTYPE_half,     HA_DTYPE_float,    HA_DTYPE_double};
enum { SORTED_TYPES = sizeof sorted_types / sizeof *sorted_types };

static int is_nan(ha_dvalue x) {
    return ha_dtype_kind(x.type) == HA_KIND_REAL && isnan(real_of(x));
}

enum { MANY = 5000 };
static ha_dvalue of_many[MANY];
static double reals_of_many[MANY]; /* 0 of integers */
static wide wholes_of_many[MANY];  /* and 0 of reals */
static ha_sort_order order_of_many;

static void know_many(int i, ha_dvalue x) {
    const int is_real = ha_dtype_kind(x.type) == HA_KIND_REAL;
    of_many[i] = x;
    reals_of_many[i] = is_real ? real_of(x) : 0;
    wholes_of_many[i] = is_real ? 0 : wide_of(x);
}

static int compare_many(const void *p, const void *q) {
    const int i = *(const int *)p, k = *(const int *)q,
              way = order_of_many == HA_ASCENDING ? 1 : -1;
    const double a = reals_of_many[i], b = reals_of_many[k];
    if (isnan(a) != isnan(b)) return isnan(a) ? 1 : -1;
    if (a < b || wholes_of_many[i] < wholes_of_many[k]) return -way;
    if (a > b || wholes_of_many[i] > wholes_of_many[k]) return way;
    return i < k ? -1 : 1;
}

/* A row in an array that has room for it: plain, with gaps, or backwards. */
static darray many_at(ha_dtype type, int64_t n) {
    const int64_t gap = 1 + (int64_t)draw(2), room = n * gap;
    const darray x = darray_new(type, 1, &room, C);
    keep_array(x.array);
    SUCCEEDS(darray_fill(x, ha_dvalue_of_int32_t(0), H));
    const darray row = darray_slice(x, 0, 0, room - gap + 1, gap);
    return draw(3) ? row : darray_flip(row, 0);
}

/* Bits of all kinds; few digits; with NaN and zeros of both signs where the type has them; or infinities and NaNs of all bits. */
static ha_dvalue one_of_many(ha_dtype type, int kind) {
    ha_dvalue x = {.type = type};
    if (type == HA_DTYPE_bool) return ha_dvalue_of_bool(draw(2) != 0);
    uint64_t bits = (uint64_t)draw(1u << 31) << 33 ^ (uint64_t)draw(1u << 31) << 8 ^ draw(256);
    if (kind == 1) bits &= 0xff0000ff00ff00ff;
    if (kind == 2 || (kind == 0 && draw(2))) return some_number(type);
    if (kind == 3 && ha_dtype_kind(type) == HA_KIND_REAL) {
        SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_double((double)INFINITY), type, &x));
        if (draw(3) == 0) bits = 0;
        for (size_t i = 0; i < ha_dtype_size(type); i++) x.bytes[i] |= (uint8_t)(bits >> 8 * i);
        return x;
    }
    memcpy(x.bytes, &bits, ha_dtype_size(type));
    return kind != 2 && is_nan(x) ? wrapped(type, 1) : x;
}

static void fill_many(darray x, const ha_dvalue *from, int64_t n) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    const size_t bytes = ha_dtype_size(x.type);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)(uintptr_t)v.data + (x.offset + i * x.stride[0]) * (int64_t)bytes,
               from[i].bytes, bytes);
    SUCCEEDS(ha_close(&v));
}

/* at[i]: which element is expected there, of `from`; NULL: its number itself. */
static void expect_many(darray x, const int *at, const ha_dvalue *from, int64_t n,
                        const char *what) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    const size_t bytes = ha_dtype_size(x.type);
    for (int64_t i = 0; i < n; i++) {
        const ha_dvalue number = wrapped(x.type, at[i]);
        const void *expected = from ? from[at[i]].bytes : number.bytes;
        const void *got = (const char *)v.data + (x.offset + i * x.stride[0]) * (int64_t)bytes;
        if (memcmp(got, expected, bytes) != 0)
            fail_msg("%s of %s: element %d of %d is another one", what, ha_dtype_name(x.type),
                     (int)i, (int)n);
    }
    SUCCEEDS(ha_close(&v));
}

static void sort_many(ha_dtype type, ha_sort_order order, int64_t n, int kind) {
    static ha_dvalue others[MANY];
    static int places[MANY];
    const ha_dtype other = types[draw(TYPES)], number = index_types[draw(4)];
    const darray x = many_at(type, n), y = many_at(other, n), at = many_at(number, n);
    for (int i = 0; i < (int)n; i++)
        know_many(i, one_of_many(type, kind)), others[i] = some_number(other), places[i] = i;
    fill_many(x, of_many, n), fill_many(y, others, n);
    order_of_many = order;
    qsort(places, (size_t)n, sizeof *places, compare_many);
    SUCCEEDS(ha_sorting(at, x, order, C));
    expect_many(at, places, NULL, n, "ha_sorting");
    SUCCEEDS(ha_sort_by_key(x, y, order, C));
    expect_many(x, places, of_many, n, "keys");
    expect_many(y, places, others, n, "values");
    fill_many(x, of_many, n);
    SUCCEEDS(ha_sort(x, order, C));
    expect_many(x, places, of_many, n, "ha_sort");
    drop_array(x.array), drop_array(y.array), drop_array(at.array);
}

#endif
