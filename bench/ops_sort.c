/* Sorting against a radix sort by hand, in the same memory. What is sorted is copied there first, each time, which is in both times. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_ops.h"

#include "bench.h"

#define LOOP __attribute__((noinline, aligned(64))) static
enum { FEW = 32, OFTEN = 4096, MANY = 4096, MOST = 1 << 22, CACHED = 1 << 22 /* bytes */ };

/* ---- by hand ------------------------------------------------------------------------------------- */

/* Elements as numbers without a sign, and back. */
#define TOP(U) ((U)1 << (8 * sizeof(U) - 1))
#define KEY_OF_INT(U, e) ((e) ^ TOP(U))
#define INT_OF_KEY(U, k) ((k) ^ TOP(U))
#define KEY_OF_REAL(U, e) ((e) ^ ((U)(0 - ((e) >> (8 * sizeof(U) - 1))) | TOP(U)))
#define REAL_OF_KEY(U, k) ((k) ^ ((U)(((k) >> (8 * sizeof(U) - 1)) - 1) | TOP(U)))
#define SAME(U, k) (k)

/* Where digits begin: counted in one walk. */
static uint32_t begin[8][2048];
#define COUNT(p, bits) begin[p][k >> (p) * (bits) & ((1 << (bits)) - 1)]++;
#define COUNT_4(bits) COUNT(0, bits) COUNT(1, bits) COUNT(2, bits) COUNT(3, bits)
#define COUNT_8(bits) COUNT_4(bits) COUNT(4, bits) COUNT(5, bits) COUNT(6, bits) COUNT(7, bits)
#define COUNT_3(bits) COUNT(0, bits) COUNT(1, bits) COUNT(2, bits)
#define COUNT_6(bits) COUNT_3(bits) COUNT(3, bits) COUNT(4, bits) COUNT(5, bits)
#define COUNT_ALL(name, U, KEY, passes, bits)                                                      \
    LOOP void name(int64_t n, const U *x) {                                                        \
        for (int p = 0; p < passes; p++) memset(begin[p], 0, sizeof **begin << bits);              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const U k = KEY(U, x[i]);                                                              \
            COUNT_##passes(bits)                                                                   \
        }                                                                                          \
        for (int p = 0; p < passes; p++) {                                                         \
            uint32_t sum = 0;                                                                      \
            for (int d = 0; d < 1 << bits; d++) {                                                  \
                const uint32_t count = begin[p][d];                                                \
                begin[p][d] = sum;                                                                 \
                sum += count;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* IN gives the key of what is read, OUT what is put. */
#define PASS(name, U, IN, OUT)                                                                     \
    LOOP void name(int64_t n, const U *x, U *y, uint32_t *at, int shift, uint32_t mask) {          \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= n; i += 4) {                                                               \
            const U a = IN(U, x[i]), b = IN(U, x[i + 1]);                                          \
            const U c = IN(U, x[i + 2]), d = IN(U, x[i + 3]);                                      \
            y[at[a >> shift & mask]++] = OUT(U, a);                                                \
            y[at[b >> shift & mask]++] = OUT(U, b);                                                \
            y[at[c >> shift & mask]++] = OUT(U, c);                                                \
            y[at[d >> shift & mask]++] = OUT(U, d);                                                \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            const U k = IN(U, x[i]);                                                               \
            y[at[k >> shift & mask]++] = OUT(U, k);                                                \
        }                                                                                          \
    }
/* The same with what goes along; KEEP puts the key, too. */
#define PAIRS(name, U, P, IN, KEEP, along)                                                         \
    LOOP void name(int64_t n, const U *x, const P *p, U *y, P *q, uint32_t *at, int shift,         \
                   uint32_t mask) {                                                                \
        (void)p, (void)y;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const U k = IN(U, x[i]);                                                               \
            const uint32_t to = at[k >> shift & mask]++;                                           \
            KEEP;                                                                                  \
            q[to] = along;                                                                         \
        }                                                                                          \
    }

#define BY_HAND(T, U, KEY, ELEMENT, passes_8, passes_11)                                           \
    COUNT_ALL(count_8_##T, U, KEY, passes_8, 8)                                                    \
    COUNT_ALL(count_11_##T, U, KEY, passes_11, 11)                                                 \
    PASS(first_##T, U, KEY, SAME)                                                                  \
    PASS(pass_##T, U, SAME, SAME)                                                                  \
    PASS(last_##T, U, SAME, ELEMENT)                                                               \
    PAIRS(first_number_##T, U, uint32_t, KEY, y[to] = k, (uint32_t)i)                              \
    PAIRS(number_##T, U, uint32_t, SAME, y[to] = k, p[i])                                          \
    PAIRS(last_number_##T, U, uint32_t, SAME, (void)0, p[i])                                       \
    PAIRS(first_value_##T, U, uint64_t, KEY, y[to] = k, p[i])                                      \
    PAIRS(value_##T, U, uint64_t, SAME, y[to] = k, p[i])                                           \
    PAIRS(last_value_##T, U, uint64_t, SAME, y[to] = ELEMENT(U, k), p[i])                          \
    /* The number of passes; their bits. What is moved for each element decides. */                \
    static int begin_##T(int64_t n, const void *x, size_t moved, int *bits) {                      \
        const int is_long = n >= MANY && (size_t)n * moved <= CACHED;                              \
        *bits = is_long ? 11 : 8;                                                                  \
        (is_long ? count_11_##T : count_8_##T)(n, (const U *)x);                                   \
        return is_long ? passes_11 : passes_8;                                                     \
    }                                                                                              \
    LOOP void sort_##T(int64_t n, void *x, void *spare) {                                          \
        U *from = (U *)x, *to = (U *)spare;                                                        \
        int bits;                                                                                  \
        const int passes = begin_##T(n, x, sizeof(U), &bits);                                      \
        for (int p = 0; p < passes; p++) {                                                         \
            (p == 0            ? first_##T                                                         \
             : p == passes - 1 ? last_##T                                                          \
                               : pass_##T)(n, from, to, begin[p], p * bits, (1u << bits) - 1);     \
            from = to;                                                                             \
            to = from == (U *)x ? (U *)spare : (U *)x;                                             \
        }                                                                                          \
        if (from != (U *)x) memcpy(x, from, (size_t)n * sizeof(U));                                \
    }                                                                                              \
    LOOP void sorting_##T(int64_t n, uint32_t *at, const void *x, void *spare[2],                  \
                          uint32_t *numbers) {                                                     \
        const U *from = (const U *)x;                                                              \
        int bits;                                                                                  \
        const int passes = begin_##T(n, x, sizeof(U) + sizeof *at, &bits);                         \
        uint32_t *p = at, *q = passes % 2 ? at : numbers;                                          \
        for (int k = 0; k < passes; k++) {                                                         \
            U *to = (U *)spare[k % 2];                                                             \
            (k == 0 ? first_number_##T                                                             \
             : k == passes - 1                                                                     \
                 ? last_number_##T                                                                 \
                 : number_##T)(n, from, p, to, q, begin[k], k * bits, (1u << bits) - 1);           \
            from = to;                                                                             \
            p = q;                                                                                 \
            q = p == at ? numbers : at;                                                            \
        }                                                                                          \
    }                                                                                              \
    LOOP void by_key_##T(int64_t n, void *x, uint64_t *v, void *spare, uint64_t *other) {          \
        U *from = (U *)x, *to = (U *)spare;                                                        \
        uint64_t *p = v, *q = other;                                                               \
        int bits;                                                                                  \
        const int passes = begin_##T(n, x, sizeof(U) + sizeof *v, &bits);                          \
        for (int k = 0; k < passes; k++) {                                                         \
            (k == 0 ? first_value_##T                                                              \
             : k == passes - 1                                                                     \
                 ? last_value_##T                                                                  \
                 : value_##T)(n, from, p, to, q, begin[k], k * bits, (1u << bits) - 1);            \
            from = to;                                                                             \
            p = q;                                                                                 \
            to = from == (U *)x ? (U *)spare : (U *)x;                                             \
            q = p == v ? other : v;                                                                \
        }                                                                                          \
        if (p == v) return;                                                                        \
        memcpy(x, from, (size_t)n * sizeof(U));                                                    \
        memcpy(v, p, (size_t)n * sizeof *v);                                                       \
    }                                                                                              \
    /* As few as it is best for. */                                                                \
    LOOP void insert_##T(int64_t n, void *elements) {                                              \
        T *x = (T *)elements;                                                                      \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const T e = x[i];                                                                      \
            int64_t k = i;                                                                         \
            for (; k > 0 && e < x[k - 1]; k--) x[k] = x[k - 1];                                    \
            x[k] = e;                                                                              \
        }                                                                                          \
    }
BY_HAND(int32_t, uint32_t, KEY_OF_INT, INT_OF_KEY, 4, 3)
BY_HAND(float, uint32_t, KEY_OF_REAL, REAL_OF_KEY, 4, 3)
BY_HAND(double, uint64_t, KEY_OF_REAL, REAL_OF_KEY, 8, 6)

typedef struct by_hand {
    const char *name;
    ha_dtype type;
    size_t bytes;
    void (*sort)(int64_t n, void *x, void *spare);
    void (*sorting)(int64_t n, uint32_t *at, const void *x, void *spare[2], uint32_t *numbers);
    void (*by_key)(int64_t n, void *x, uint64_t *v, void *spare, uint64_t *other);
    void (*insert)(int64_t n, void *x);
} by_hand;
#define HAND(T)                                                                                    \
    { #T, HA_DTYPE_##T, sizeof(T), sort_##T, sorting_##T, by_key_##T, insert_##T }
static const by_hand hands[] = {HAND(int32_t), HAND(float), HAND(double)};

/* ---- figures ------------------------------------------------------------------------------------- */

typedef struct work {
    const by_hand *hand;
    int64_t n;
    size_t times;
    darray x, at, v;
    void *px, *given, *spare[2];
    uint32_t *pat, *numbers;
    uint64_t *pv, *given_v, *other;
} work;

/* A few are others each time, as processors learn what those of one time are compared to. */
static void give(work *w) {
    const size_t bytes = (size_t)w->n * w->hand->bytes, k = w->n == FEW ? w->times++ % OFTEN : 0;
    memcpy(w->px, (const char *)w->given + k * bytes, bytes);
}
static void give_both(work *w) {
    give(w);
    memcpy(w->pv, w->given_v, (size_t)w->n * sizeof *w->pv);
}

BENCH_TIME(sort, (give(w), HA_CHECK(ha_sort(w->x, HA_ASCENDING, NULL))))
BENCH_TIME(sort_by_hand, (give(w), w->hand->sort(w->n, w->px, w->spare[0])))
BENCH_TIME(insertion, (give(w), w->hand->insert(w->n, w->px)))
BENCH_TIME(sorting, HA_CHECK(ha_sorting(w->at, w->x, HA_ASCENDING, NULL)))
BENCH_TIME(sorting_by_hand, w->hand->sorting(w->n, w->pat, w->px, w->spare, w->numbers))
BENCH_TIME(by_key, (give_both(w), HA_CHECK(ha_sort_by_key(w->x, w->v, HA_ASCENDING, NULL))))
BENCH_TIME(by_key_by_hand,
           (give_both(w), w->hand->by_key(w->n, w->px, w->pv, w->spare[0], w->other)))

/* An array, and where it is on the host. */
static darray array_of(ha_dtype type, int64_t n, void **data) {
    const darray x = darray_new(type, 1, &n, NULL);
    ha_access a;
    HA_CHECK(ha_open(&a, x.array, ha_host(), HA_OVERWRITE, 0, HA_END));
    *data = (void *)(uintptr_t)a.data;
    memset(*data, 0, (size_t)n * ha_dtype_size(type));
    HA_CHECK(ha_close(&a));
    return x;
}

/* Elements, what they are sorted from, and room by hand; numbers; values. */
static work work_of(const by_hand *hand, int64_t n) {
    work w = {.hand = hand, .n = n};
    void *given, *at, *numbers, *v, *given_v, *other;
    const darray x = array_of(hand->type, n == FEW ? n * OFTEN : n, &given);
    HA_CHECK(hand->type == HA_DTYPE_int32_t ? ha_random(x, 1, NULL) : ha_random_normal(x, 1, NULL));
    w.given = given;
    w.x = array_of(hand->type, n, &w.px);
    for (int i = 0; i < 2; i++) (void)array_of(hand->type, n, &w.spare[i]);
    w.at = array_of(HA_DTYPE_uint32_t, n, &at);
    (void)array_of(HA_DTYPE_uint32_t, n, &numbers);
    w.v = array_of(HA_DTYPE_uint64_t, n, &v);
    (void)array_of(HA_DTYPE_uint64_t, n, &given_v);
    (void)array_of(HA_DTYPE_uint64_t, n, &other);
    w.pat = (uint32_t *)at;
    w.numbers = (uint32_t *)numbers;
    w.pv = (uint64_t *)v;
    w.given_v = (uint64_t *)given_v;
    w.other = (uint64_t *)other;
    for (int64_t i = 0; i < n; i++) w.given_v[i] = (uint64_t)i;
    give(&w);
    return w;
}

static void figure(const char *what, work *w, bench_function *function, const char *other,
                   bench_function *reference, double bound) {
    char name[80];
    snprintf(name, sizeof name, "%s, %s, %lld", what, w->hand->name, (long long)w->n);
    bench_run(&(bench_figure){name, function, w, other, reference, w, bound, 0, 0});
}

/* Both come to the same. */
static void check(work *w) {
    void *sorted = malloc((size_t)w->n * w->hand->bytes);
    uint32_t *at = (uint32_t *)malloc((size_t)w->n * sizeof *at);
    uint64_t *v = (uint64_t *)malloc((size_t)w->n * sizeof *v);
    bench_require(sorted && at && v, "memory");
    (void)time_by_key_by_hand(w, 1);
    memcpy(sorted, w->px, (size_t)w->n * w->hand->bytes);
    memcpy(v, w->pv, (size_t)w->n * sizeof *v);
    (void)time_by_key(w, 1);
    bench_require(!memcmp(sorted, w->px, (size_t)w->n * w->hand->bytes), "keys are not the same");
    bench_require(!memcmp(v, w->pv, (size_t)w->n * sizeof *v), "values are not the same");
    (void)time_sort(w, 1);
    bench_require(!memcmp(sorted, w->px, (size_t)w->n * w->hand->bytes), "not the same");
    (void)time_sort_by_hand(w, 1);
    bench_require(!memcmp(sorted, w->px, (size_t)w->n * w->hand->bytes), "not sorted by hand");
    give(w);
    (void)time_sorting_by_hand(w, 1);
    memcpy(at, w->pat, (size_t)w->n * sizeof *at);
    (void)time_sorting(w, 1);
    bench_require(!memcmp(at, w->pat, (size_t)w->n * sizeof *at), "numbers are not the same");
    free(sorted), free(at), free(v);
}

int main(int argc, char **argv) {
    static const int64_t lengths[] = {1 << 10, 1 << 14, 1 << 20, MOST};
    bench_begin(argc, argv, "plain");
    for (size_t t = 0; t < sizeof hands / sizeof *hands; t++) {
        work few = work_of(&hands[t], FEW);
        figure("sort", &few, time_sort, "insertion by hand", time_insertion, 2);
        const size_t count = bench_settings.least_ns == 0 /* --smoke */ ? 2
                                                                        : sizeof lengths /
                                                                              sizeof *lengths;
        for (size_t i = 0; i < count; i++) {
            work w = work_of(&hands[t], lengths[i]);
            check(&w);
            figure("sort", &w, time_sort, "by hand", time_sort_by_hand, 1);
            figure("sorting", &w, time_sorting, "by hand", time_sorting_by_hand, 1);
            figure("sort by key", &w, time_by_key, "by hand", time_by_key_by_hand, 1);
        }
    }
    return 0;
}
