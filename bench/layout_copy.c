/* Copies between layouts (layout/copy.h) of 512 x 512 x 16 particles with 20 fields: all pairs of
 * the layouts that LLAMA's own benchmark has, against memcpy of as many bytes and against loops by
 * hand. Mixed: fields of 1, 4 and 8 bytes, 96 a particle, no gaps. Floats: 20 of them. Padded:
 * mixed with one float less, so that 4 bytes of each struct are no field's. Narrow, wide: to a
 * record that has floats where the source has doubles, and back, against memcpy that reads and
 * writes as many bytes together. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

#include <sys/mman.h>

#include "loops.h"

/* ---- records --------------------------------------------------------------------------------- */

#define MIXED_TAIL "charge:f32 mass:f32 radius:f32 heat:f32 age:f32 cell:i32 flags[4]:bool"
#define MIXED_HEAD(real)                                                                           \
    "id:i64 pos.x:" real " pos.y:" real " pos.z:" real " vel.x:" real " vel.y:" real               \
    " vel.z:" real " "
#define MIXED MIXED_HEAD("f64") "force.x:f32 force.y:f32 force.z:f32 " MIXED_TAIL
#define PADDED MIXED_HEAD("f64") "force.x:f32 force.y:f32 " MIXED_TAIL
#define NARROW MIXED_HEAD("f32") "force.x:f32 force.y:f32 force.z:f32 " MIXED_TAIL
#define FLOATS "f[20]:f32"

/* FIELD(type, name, …) for each of MIXED. */
#define MIXED_FIELDS(FIELD, ...)                                                                   \
    FIELD(int64_t, id, __VA_ARGS__)                                                                \
    FIELD(double, px, __VA_ARGS__)                                                                 \
    FIELD(double, py, __VA_ARGS__)                                                                 \
    FIELD(double, pz, __VA_ARGS__)                                                                 \
    FIELD(double, vx, __VA_ARGS__)                                                                 \
    FIELD(double, vy, __VA_ARGS__)                                                                 \
    FIELD(double, vz, __VA_ARGS__)                                                                 \
    FIELD(float, fx, __VA_ARGS__)                                                                  \
    FIELD(float, fy, __VA_ARGS__)                                                                  \
    FIELD(float, fz, __VA_ARGS__)                                                                  \
    FIELD(float, charge, __VA_ARGS__)                                                              \
    FIELD(float, mass, __VA_ARGS__)                                                                \
    FIELD(float, radius, __VA_ARGS__)                                                              \
    FIELD(float, heat, __VA_ARGS__)                                                                \
    FIELD(float, age, __VA_ARGS__)                                                                 \
    FIELD(int32_t, cell, __VA_ARGS__)                                                              \
    FIELD(bool, flag0, __VA_ARGS__)                                                                \
    FIELD(bool, flag1, __VA_ARGS__)                                                                \
    FIELD(bool, flag2, __VA_ARGS__)                                                                \
    FIELD(bool, flag3, __VA_ARGS__)

/* ---- work ------------------------------------------------------------------------------------ */

typedef enum layout { AOS = 0, SOA, AOSOA8, AOSOA32, PACKED, LAYOUTS } layout;
static const char *const layout_text[LAYOUTS] = {"aos", "soa", "aosoa(8)", "aosoa(32)",
                                                 "aos(packed)"};
enum { MOST_BLOBS = 20 };

typedef struct place {
    ha_mapping *mapping;
    void *blob[MOST_BLOBS];
    ha_mapped mapped;
} place;

typedef struct work work;
typedef void by_hand(const work *w);

struct work {
    ha_record *to_record, *from_record;
    place to, from;
    by_hand *by_hand;
    char *memory, *other; /* for memcpy */
    size_t bytes;         /* of all values of the target; half of those of both, if they differ */
    size_t records;
    int threads;
};

/* Memory in huge pages, where the system has some, as that of large arrays is. Given out in turn,
 * begun anew for each figure: one for each side. */
typedef struct store {
    char *memory;
    size_t size, used;
} store;
static store stores[2];

static void make_store(store *s, size_t bytes) {
    enum { HUGE_PAGE = 2 << 20 };
    s->size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    s->memory = (char *)aligned_alloc(HUGE_PAGE, s->size);
    bench_require(s->memory != NULL, "memory");
    (void)madvise(s->memory, s->size, MADV_HUGEPAGE);
    memset(s->memory, 1, s->size);
}

/* Blobs begin on lines, and not all at the same place of a page. */
static void *take(store *s, int64_t bytes) {
    char *const memory = s->memory + s->used;
    s->used += ((size_t)bytes + 63) / 64 * 64 + 5 * 64;
    bench_require(s->used <= s->size, "a store large enough");
    return memory;
}

static void make_place(place *p, store *s, const ha_record *record, const char *text, int rank,
                       const int64_t *extent) {
    ha_error error;
    p->mapping = ha_mapping_parse(record, text, rank, extent, &error);
    bench_require(p->mapping != NULL, error.text);
    s->used = 0;
    for (int k = 0; k < p->mapping->blobs; k++) p->blob[k] = take(s, p->mapping->blob[k].bytes);
    p->mapped = (ha_mapped){p->mapping, p->blob};
}

TIME(mapped, work, {
    const ha_copying how = {.threads = w->threads};
    bench_require(!ha_mapped_copy(&w->to.mapped, &w->from.mapped, &how, NULL), "copy");
})
TIME(hand, work, w->by_hand(w))
TIME(memcpy, work, memcpy(w->memory, w->other, w->bytes))

/* ---- two threads: by the clock --------------------------------------------------------------- */

static void *copy_half(void *data) {
    const work *w = (const work *)data;
    memcpy(w->memory, w->other, w->bytes / 2);
    return NULL;
}

static void memcpy_by_two(work *w) {
    pthread_t thread;
    const size_t half = w->bytes / 2;
    bench_require(!pthread_create(&thread, NULL, copy_half, w), "thread");
    memcpy(w->memory + half, w->other + half, w->bytes - half);
    bench_require(!pthread_join(thread, NULL), "thread");
}

static double clocked_mapped(void *data, size_t count) {
    const double start = bench_now();
    (void)time_mapped(data, count);
    return bench_now() - start;
}
static double clocked_memcpy(void *data, size_t count) {
    const double start = bench_now();
    for (size_t k = 0; k < count; k++) {
        memcpy_by_two((work *)data);
        bench_barrier();
    }
    return bench_now() - start;
}

/* ---- by hand --------------------------------------------------------------------------------- */

#define MEMBER(type, name, ...) type name;
#define MEMBERS(type, name, n) type name[n];
typedef struct mixed {
    MIXED_FIELDS(MEMBER, )
} mixed;
typedef struct __attribute__((packed)) tight {
    MIXED_FIELDS(MEMBER, )
} tight;
typedef struct block8 {
    MIXED_FIELDS(MEMBERS, 8)
} block8;
typedef struct block32 {
    MIXED_FIELDS(MEMBERS, 32)
} block32;
#define POINTER(type, name, ...) type *name;
typedef struct arrays {
    MIXED_FIELDS(POINTER, )
} arrays;

static arrays arrays_of(const place *p) {
    int k = 0;
    arrays a;
#define TAKE_POINTER(type, name, ...) a.name = (type *)p->blob[k++];
    MIXED_FIELDS(TAKE_POINTER, )
    return a;
}

/* For each layout how it is got at, and where field `name` of record b + k is, b a multiple of 32. */
#define OPEN_AOS(v, p) mixed *const v = (mixed *)(p).blob[0]
#define AT_AOS(v, name, b, k) v[(b) + (k)].name
#define OPEN_PACKED(v, p) tight *const v = (tight *)(p).blob[0]
#define AT_PACKED(v, name, b, k) v[(b) + (k)].name
#define OPEN_SOA(v, p) const arrays v = arrays_of(&(p))
#define AT_SOA(v, name, b, k) v.name[(b) + (k)]
#define OPEN_AOSOA8(v, p) block8 *const v = (block8 *)(p).blob[0]
#define AT_AOSOA8(v, name, b, k) v[(b) / 8 + (k) / 8].name[(k) % 8]
#define OPEN_AOSOA32(v, p) block32 *const v = (block32 *)(p).blob[0]
#define AT_AOSOA32(v, name, b, k) v[(b) / 32].name[k]

/* 32 records, field by field, so that everything is in the first cache when it is needed again. */
#define COPY_FIELD(type, name, TO, FROM)                                                           \
    WHOLE for (size_t k = 0; k < 32; k++) AT_##TO(to, name, b, k) = AT_##FROM(from, name, b, k);
#define BY_HAND(TO, FROM)                                                                          \
    LOOP void hand_##FROM##_to_##TO(const work *w) {                                               \
        OPEN_##TO(to, w->to);                                                                      \
        OPEN_##FROM(from, w->from);                                                                \
        for (size_t b = 0; b < w->records; b += 32) {                                              \
            BY_HAND_FIELDS(TO, FROM)                                                               \
        }                                                                                          \
    }
#define BY_HAND_FIELDS(TO, FROM) MIXED_FIELDS(COPY_FIELD_, TO, FROM)
#define COPY_FIELD_(type, name, ...) COPY_FIELD(type, name, __VA_ARGS__)
#define BY_HAND_FROM(FROM)                                                                         \
    BY_HAND(AOS, FROM)                                                                             \
    BY_HAND(SOA, FROM) BY_HAND(AOSOA8, FROM) BY_HAND(AOSOA32, FROM) BY_HAND(PACKED, FROM)
BY_HAND_FROM(AOS)
BY_HAND_FROM(SOA)
BY_HAND_FROM(AOSOA8)
BY_HAND_FROM(AOSOA32)
BY_HAND_FROM(PACKED)

/* [from][to] */
#define HANDS(FROM)                                                                                \
    {                                                                                              \
        hand_##FROM##_to_AOS, hand_##FROM##_to_SOA, hand_##FROM##_to_AOSOA8,                       \
            hand_##FROM##_to_AOSOA32, hand_##FROM##_to_PACKED                                      \
    }
static by_hand *const hands[LAYOUTS][LAYOUTS] = {HANDS(AOS), HANDS(SOA), HANDS(AOSOA8),
                                                 HANDS(AOSOA32), HANDS(PACKED)};

/* ---- figures --------------------------------------------------------------------------------- */

/* What is copied by hand and by ha_mapped_copy is the same, byte for byte. */
static void check(work *w) {
    store *s = &stores[0];
    const size_t bytes = s->used;
    char *const expected = (char *)malloc(bytes);
    bench_require(expected != NULL, "memory");
    memset(s->memory, 0, bytes);
    w->by_hand(w);
    memcpy(expected, s->memory, bytes);
    memset(s->memory, 0, bytes);
    (void)time_mapped(w, 1);
    bench_require(!memcmp(expected, s->memory, bytes), "the copy differs from that by hand");
    free(expected);
}

static void fill(store *s) {
    uint64_t state = 1;
    for (size_t i = 0; i + 8 <= s->used; i += 8) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t bits = state >> 7 & 0x0101010101010101; /* good for a bool, too */
        memcpy(s->memory + i, &bits, 8);
    }
}

typedef struct figure {
    const char *name; /* of the records */
    const char *to_record, *from_record;
    layout to, from;
    double bound;
    int is_converted;
    const char *to_text, *from_text; /* other layouts than these two; NULL: these */
} figure;

static void release(work *w) {
    ha_mapping_free(w->to.mapping);
    ha_mapping_free(w->from.mapping);
    ha_record_free(w->to_record);
    ha_record_free(w->from_record);
}

static size_t bytes_of(const place *p) {
    size_t bytes = 0;
    for (int k = 0; k < p->mapping->blobs; k++) bytes += (size_t)p->mapping->blob[k].bytes;
    return bytes;
}

static void run_by_two(work *w, const char *name, double bound) {
    w->threads = 2;
    bench_run(&(bench_figure){name, clocked_mapped, w, "memcpy by 2 threads", clocked_memcpy, w,
                              .bound = bound, .bytes = 2 * w->bytes});
}

static void run(const figure *f, const int64_t *extent) {
    work w = {.threads = 1, .records = (size_t)(extent[0] * extent[1] * extent[2])};
    char name[120], hand_name[140], two_name[140];
    ha_error error;
    const char *const to_text = f->to_text ? f->to_text : layout_text[f->to];
    const char *const from_text = f->from_text ? f->from_text : layout_text[f->from];
    snprintf(name, sizeof name, "%s, %s to %s", f->name, from_text, to_text);
    snprintf(hand_name, sizeof hand_name, "%s, by hand", name);
    snprintf(two_name, sizeof two_name, "%s, 2 threads", name);
    if (!strstr(hand_name, bench_settings.only) && !strstr(two_name, bench_settings.only)) return;
    w.to_record = ha_record_parse(f->to_record, &error);
    bench_require(w.to_record != NULL, error.text);
    w.from_record = ha_record_parse(f->from_record, &error);
    bench_require(w.from_record != NULL, error.text);
    make_place(&w.to, &stores[0], w.to_record, to_text, 3, extent);
    make_place(&w.from, &stores[1], w.from_record, from_text, 3, extent);
    w.bytes = bytes_of(&w.to);
    if (f->is_converted) w.bytes = (w.bytes + bytes_of(&w.from)) / 2;
    w.memory = stores[0].memory;
    w.other = stores[1].memory;
    fill(&stores[1]);
    if (!strcmp(f->to_record, MIXED) && !strcmp(f->from_record, MIXED) && !f->is_converted) {
        w.by_hand = hands[f->from][f->to];
        check(&w);
        bench_run(&(bench_figure){hand_name, time_hand, &w, "memcpy", time_memcpy, &w,
                                  .bytes = 2 * w.bytes});
    }
    bench_run(&(bench_figure){name, time_mapped, &w, "memcpy", time_memcpy, &w, .bound = f->bound,
                              .bytes = 2 * w.bytes});
    if (w.records > 4096) run_by_two(&w, two_name, f->bound);
    release(&w);
}

/* Between arrays and blocks, and between blocks, whole runs move: 0.9 of memcpy's rate; where records
 * are taken apart, 0.7. */
static double bound_of(layout from, layout to) {
    const int takes_apart = from == AOS || from == PACKED || to == AOS || to == PACKED;
    return takes_apart ? 1 / 0.7 : 1 / 0.9;
}

static void run_pairs(const char *name, const char *record, const int64_t *extent) {
    for (layout from = AOS; from < LAYOUTS; from++)
        for (layout to = AOS; to < LAYOUTS; to++) {
            const figure f = {name, record, record, to, from, bound_of(from, to), 0, NULL, NULL};
            if (from != to) run(&f, extent);
        }
}

/* Half of the numbers of MIXED to others, to a record and to a layout that stores them so. */
static void run_converted(const int64_t *extent) {
    static const layout all[] = {AOS, SOA, AOSOA8, AOSOA32};
    for (int f = 0; f < 4; f++)
        for (int t = 0; t < 4; t++) {
            const double bound = all[f] == AOS || all[t] == AOS ? 1 / 0.5 : 1 / 0.7;
            run(&(figure){"narrow", NARROW, MIXED, all[t], all[f], bound, 1, NULL, NULL}, extent);
            run(&(figure){"wide", MIXED, NARROW, all[t], all[f], bound, 1, NULL, NULL}, extent);
        }
    static const char halves[] = "changetype(f32:f16; soa)", floats[] = "changetype(f64:f32; aos)";
    run(&(figure){"mixed", MIXED, MIXED, SOA, SOA, 1 / 0.5, 1, halves, NULL}, extent);
    run(&(figure){"mixed", MIXED, MIXED, SOA, AOS, 1 / 0.5, 1, halves, NULL}, extent);
    run(&(figure){"mixed", MIXED, MIXED, AOS, SOA, 1 / 0.5, 1, NULL, halves}, extent);
    run(&(figure){"mixed", MIXED, MIXED, AOS, AOS, 1 / 0.5, 1, floats, NULL}, extent);
    run(&(figure){"mixed", MIXED, MIXED, AOS, AOS, 1 / 0.5, 1, "byteswap(aos)", NULL}, extent);
}

int main(int argc, char **argv) {
    static const figure others[] = {
        {"floats", FLOATS, FLOATS, SOA, AOS, 1 / 0.7, 0, NULL, NULL},
        {"floats", FLOATS, FLOATS, AOS, SOA, 1 / 0.7, 0, NULL, NULL},
        {"floats", FLOATS, FLOATS, AOSOA8, SOA, 1 / 0.9, 0, NULL, NULL},
        {"floats", FLOATS, FLOATS, SOA, AOSOA8, 1 / 0.9, 0, NULL, NULL},
        {"floats", FLOATS, FLOATS, AOSOA32, AOSOA8, 1 / 0.9, 0, NULL, NULL},
        {"floats", FLOATS, FLOATS, AOSOA8, AOSOA32, 1 / 0.9, 0, NULL, NULL},
        {"padded", PADDED, PADDED, SOA, AOS, 0, 0, NULL, NULL},
        {"padded", PADDED, PADDED, AOS, SOA, 0, 0, NULL, NULL},
    };
    int64_t large[] = {512, 512, 16};
    static const int64_t small[] = {8, 16, 16}, least[] = {4, 4, 4};
    bench_begin(argc, argv, "included");
    if (bench_settings.least_ns == 0) large[0] = large[1] = 32; /* --smoke */
    for (int k = 0; k < 2; k++)
        make_store(&stores[k], (size_t)(large[0] * large[1] * large[2]) * 104 + (64 << 10));
    run_pairs("mixed", MIXED, large);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) run(&others[k], large);
    run_converted(large);
    for (layout from = AOS; from <= AOSOA8; from++)
        for (layout to = AOS; to <= AOSOA8; to++) {
            const figure in_cache = {"2048 mixed", MIXED, MIXED, to, from, 0, 0, NULL, NULL};
            const figure few = {"64 mixed", MIXED, MIXED, to, from, 0, 0, NULL, NULL};
            if (from != to) run(&in_cache, small);
            if (from != to) run(&few, least);
        }
    return 0;
}
