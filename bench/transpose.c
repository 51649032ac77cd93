/* Copies between boxes with other strides on both sides, on the host, against memcpy of as many bytes:
 * transposed matrices, permuted dimensions, and the same with another element type. The memory is such
 * as arrays have: huge pages where the system gives them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

typedef struct work {
    int rank;
    int64_t extent[3], to_stride[3], from_stride[3];
    size_t element, bytes; /* of the source */
    size_t to_bytes;
    ha_dtype to_type, from_type;
    void *to, *from;
} work;

static double time_copy(void *data, size_t count) {
    const work *w = (const work *)data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_copy_strided(w->rank, w->extent, w->to, w->to_stride, w->from, w->from_stride,
                        w->element);
        bench_barrier();
    }
    return bench_now() - start;
}

static double time_convert(void *data, size_t count) {
    const work *w = (const work *)data;
    ha_misfit misfit;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(!ha_strided_convert(w->rank, w->extent, w->to, w->to_stride, w->to_type,
                                          w->from, w->from_stride, w->from_type, &misfit),
                      "conversion");
        bench_barrier();
    }
    return bench_now() - start;
}

static double time_memcpy(void *data, size_t count) {
    const work *w = (const work *)data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        memcpy(w->to, w->from, (w->bytes + w->to_bytes) / 2);
        bench_barrier();
    }
    return bench_now() - start;
}

/* The dimensions of the target are those of the source in another order. */
static void permute(work *w, int rank, const int64_t *from_extent, const int *order) {
    int64_t from_stride[3];
    w->rank = rank;
    bench_require(!ha_extents_strides(rank, from_extent, HA_ROW_MAJOR, from_stride), "strides");
    for (int d = 0; d < rank; d++) {
        w->extent[d] = from_extent[order[d]];
        w->from_stride[d] = from_stride[order[d]];
    }
    bench_require(!ha_extents_strides(rank, w->extent, HA_ROW_MAJOR, w->to_stride), "strides");
}

static void check(const work *w) {
    int64_t last[3];
    memset(w->to, 0, w->bytes);
    (void)time_copy((void *)(uintptr_t)w, 1);
    for (int i = 0; i < 1000; i++) {
        for (int d = 0; d < w->rank; d++) last[d] = (int64_t)rand() % w->extent[d];
        bench_require(
            !memcmp((char *)w->to + (size_t)ha_offset(w->rank, last, w->to_stride) * w->element,
                    (char *)w->from + (size_t)ha_offset(w->rank, last, w->from_stride) * w->element,
                    w->element),
            "a copied element");
    }
}

/* Numbers 0, 1, 2, … 249, 0, … of the type that is converted, doubles with fractions; or bytes. */
static void fill(const work *w) {
    const ha_dtype type = w->from_type;
    const double fraction = type == HA_DTYPE_double ? 0.3 : 0;
    for (size_t i = 0; i < w->bytes / w->element; i++) {
        char *at = (char *)w->from + i * w->element;
        if (!type)
            memset(at, (int)(i % 251), w->element);
        else if (i < 250)
            HA_CHECK(ha_dvalue_store(ha_dvalue_of_double((double)i + fraction), type, at));
        else
            memcpy(at, at - 250 * w->element, w->element);
    }
    memset(w->to, 1, w->to_bytes);
}

typedef struct figure {
    const char *name;
    size_t element;
    int rank;
    int64_t from_extent[3];
    int order[3];
    ha_dtype to_type, from_type; /* of conversions */
    double bound;
} figure;

static void run(const figure *f) {
    work w = {.element = f->element, .to_type = f->to_type, .from_type = f->from_type};
    ha_access to, from;
    int64_t from_extent[3];
    for (int d = 0; d < f->rank; d++)
        from_extent[d] = bench_settings.least_ns == 0 && f->from_extent[d] > 16 /* --smoke */
                             ? f->from_extent[d] / 8
                             : f->from_extent[d];
    permute(&w, f->rank, from_extent, f->order);
    w.bytes = w.element;
    for (int d = 0; d < w.rank; d++) w.bytes *= (size_t)w.extent[d];
    w.to_bytes = f->to_type ? w.bytes / w.element * ha_dtype_size(f->to_type) : w.bytes;
    const size_t most = w.bytes > w.to_bytes ? w.bytes : w.to_bytes; /* memcpy copies the mean */
    ha_array *x = ha_array_new(ha_type_of_("byte", 1), most, ha_host());
    ha_array *y = ha_array_new(ha_type_of_("byte", 1), most, ha_host());
    HA_CHECK(ha_open(&to, x, ha_host(), HA_OVERWRITE, 0, HA_END));
    HA_CHECK(ha_open(&from, y, ha_host(), HA_OVERWRITE, 0, HA_END));
    w.to = to.data;
    w.from = from.data;
    fill(&w);
    if (!f->to_type) check(&w);
    bench_run(&(bench_figure){f->name, f->to_type ? time_convert : time_copy, &w, "memcpy",
                              time_memcpy, &w, .bound = f->bound, .bytes = w.bytes + w.to_bytes});
    HA_CHECK(ha_close(&to));
    HA_CHECK(ha_close(&from));
    HA_CHECK(ha_array_free(x));
    HA_CHECK(ha_array_free(y));
}

#define CONVERSION(from, size, to)                                                                 \
    {                                                                                              \
#from " to " #to ", 4096 x 4096", size, 2,                                                 \
            {4096, 4096 }, {0, 1 }, HA_DTYPE_##to, HA_DTYPE_##from, 0                              \
    }

int main(int argc, char **argv) {
    static const double bound = 1 / 0.6; /* 0.6 of the rate of memcpy */
    static const figure figures[] = {
        {"transpose, float, 4096 x 4096", 4, 2, {4096, 4096}, {1, 0}, 0, 0, bound},
        {"transpose, double, 4096 x 4096", 8, 2, {4096, 4096}, {1, 0}, 0, 0, bound},
        {"transpose, float, 5000 x 4000", 4, 2, {5000, 4000}, {1, 0}, 0, 0, bound},
        {"transpose, double, 5000 x 4000", 8, 2, {5000, 4000}, {1, 0}, 0, 0, bound},
        {"transpose, float, 4099 x 4001", 4, 2, {4099, 4001}, {1, 0}, 0, 0, bound},
        {"transpose, double, 4099 x 4001", 8, 2, {4099, 4001}, {1, 0}, 0, 0, bound},
        {"transpose, byte, 8192 x 8192", 1, 2, {8192, 8192}, {1, 0}, 0, 0, 0},
        {"transpose, 16 bytes, 3000 x 2000", 16, 2, {3000, 2000}, {1, 0}, 0, 0, 0},
        {"transpose, double, 512 x 512", 8, 2, {512, 512}, {1, 0}, 0, 0, 0},
        {"(k, j, i), float, 256^3", 4, 3, {256, 256, 256}, {2, 1, 0}, 0, 0, bound},
        {"(j, k, i), float, 256^3", 4, 3, {256, 256, 256}, {1, 2, 0}, 0, 0, bound},
        {"(j, i, k), double, 250^3", 8, 3, {250, 250, 250}, {1, 0, 2}, 0, 0, bound},
        {"(k, j, i), double, 250^3", 8, 3, {250, 250, 250}, {2, 1, 0}, 0, 0, bound},
        {"structs to arrays, float, 8M x 3", 4, 2, {8 << 20, 3}, {1, 0}, 0, 0, 0},
        {"arrays to structs, float, 3 x 8M", 4, 2, {3, 8 << 20}, {1, 0}, 0, 0, 0},
        {"structs to arrays, float, 8M x 4", 4, 2, {8 << 20, 4}, {1, 0}, 0, 0, 0},
        {"double to float, 4096 x 4096",
         8,
         2,
         {4096, 4096},
         {0, 1},
         HA_DTYPE_float,
         HA_DTYPE_double,
         0},
        {"double to float, transposed",
         8,
         2,
         {4096, 4096},
         {1, 0},
         HA_DTYPE_float,
         HA_DTYPE_double,
         0},
        CONVERSION(double, 8, int32_t),
        CONVERSION(double, 8, int64_t),
        CONVERSION(double, 8, uint8_t),
        CONVERSION(float, 4, int32_t),
        CONVERSION(int32_t, 4, double),
        CONVERSION(int64_t, 8, double),
        CONVERSION(int64_t, 8, int32_t),
        CONVERSION(int32_t, 4, int16_t),
        CONVERSION(int16_t, 2, int32_t),
    };
    bench_begin(argc, argv, "included");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) run(&figures[i]);
    HA_CHECK(ha_shutdown());
    return 0;
}
