/* Runs of values that are stored as few bits (layout/mapped.h), written and read: gigabytes of what
 * they are without that in a second, against memcpy of as many bytes, and against the same one by
 * one. In the first cache, and a run a blob (soa) or strided (aos, of three fields). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

#include "loops.h"

enum { VALUES = 4096 };

typedef struct work {
    ha_record *record;
    ha_mapping *mapping;
    ha_mapped mapped;
    int64_t bytes; /* of a run without coding */
    void *values, *other;
} work;

static const int64_t zero;

#define EACH(call)                                                                                 \
    for (int64_t at = 0; at < VALUES; at++)                                                        \
    call(&w->mapped, 1, &at, (char *)w->values + at * (w->bytes / VALUES))
TIME(get, const work, ha_mapped_get_run(&w->mapped, 1, &zero, 0, VALUES, w->values))
TIME(set, const work, ha_mapped_set_run(&w->mapped, 1, &zero, 0, VALUES, w->values))
TIME(get_each, const work, EACH(ha_mapped_get))
TIME(set_each, const work, EACH(ha_mapped_set))
TIME(memcpy, const work, memcpy(w->other, w->values, (size_t)w->bytes))

static const struct {
    const char *type, *layout;
} cases[] = {
    {"i32", "bitint(12; soa)"},          {"i32", "bitint(12; aos)"},
    {"i32", "bitint(31; aos)"},          {"u64", "bitint(40; soa)"},
    {"u64", "bitint(61; aos)"},          {"u8", "bitint(3; soa)"},
    {"bool", "bitint(1; soa)"},          {"f32", "bitfloat(8,7; soa)"},
    {"f32", "bitfloat(5,4; aos)"},       {"f64", "bitfloat(5,10; soa)"},
    {"f64", "bitfloat(5,10; aos)"},      {"f64", "bitfloat(11,30; aos)"},
    {"f64", "changetype(f64:f32; soa)"}, {"f64", "byteswap(soa)"},
    {"f64", "bytesplit(soa)"},
};

static void fill(const work *w, ha_dtype type) {
    int64_t numbers[256];
    for (int64_t k = 0; k < VALUES; k += 256) {
        for (int64_t j = 0; j < 256; j++) numbers[j] = (k + j) * 2654435761 % 1000;
        ha_change_values((char *)w->values + k * (int64_t)ha_dtype_size(type), type, numbers,
                         HA_DTYPE_int64_t, 256);
    }
}

/* What is read has to be what was written, as far as it was stored. */
static void check(const work *w) {
    ha_mapped_set_run(&w->mapped, 1, &zero, 0, VALUES, w->values);
    ha_mapped_get_run(&w->mapped, 1, &zero, 0, VALUES, w->values);
    ha_mapped_set_run(&w->mapped, 1, &zero, 0, VALUES, w->values);
    ha_mapped_get_run(&w->mapped, 1, &zero, 0, VALUES, w->other);
    bench_require(memcmp(w->values, w->other, (size_t)w->bytes) == 0, "same values");
}

static void run(const char *type, const char *layout) {
    const int64_t n = VALUES;
    char text[60], name[100];
    work w;
    snprintf(text, sizeof text, "x:%s y:%s z:%s", type, type, type);
    w.record = ha_record_parse(text, NULL);
    w.mapping = ha_mapping_parse(w.record, layout, 1, &n, NULL);
    bench_require(w.mapping != NULL, layout);
    void *blob[24];
    for (int b = 0; b < w.mapping->blobs; b++) {
        blob[b] = aligned_alloc(64, (size_t)(w.mapping->blob[b].bytes + 63) / 64 * 64);
        bench_require(blob[b] != NULL, "memory");
        memset(blob[b], 0, (size_t)w.mapping->blob[b].bytes);
    }
    w.mapped = (ha_mapped){w.mapping, blob};
    w.bytes = n * (int64_t)ha_dtype_size(w.record->field[0].type);
    w.values = aligned_alloc(64, (size_t)w.bytes);
    w.other = aligned_alloc(64, (size_t)w.bytes);
    bench_require(w.values != NULL && w.other != NULL, "memory");
    fill(&w, w.record->field[0].type);
    check(&w);
    const struct {
        const char *what, *reference;
        bench_function *function, *other;
    } figures[] = {{"get", "memcpy", time_get, time_memcpy},
                   {"set", "memcpy", time_set, time_memcpy},
                   {"get", "one by one", time_get, time_get_each},
                   {"set", "one by one", time_set, time_set_each}};
    for (int k = 0; k < 4; k++) {
        const int each = k >= 2;
        snprintf(name, sizeof name, "%s %s, %s%s", figures[k].what, type, layout,
                 each ? ", one by one" : "");
        bench_run(&(bench_figure){name, figures[k].function, &w, figures[k].reference,
                                  figures[k].other, &w, .bytes = (size_t)w.bytes});
    }
    for (int b = 0; b < w.mapping->blobs; b++) free(blob[b]);
    free(w.values);
    free(w.other);
    ha_mapping_free(w.mapping);
    ha_record_free(w.record);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) run(cases[k].type, cases[k].layout);
    return 0;
}
