/* One of two versions of the library, as a shared object: compiled with -I of its tree. It exports
 * what versus.c times. */
#define HARRAY_IMPLEMENTATION
#include "harray.h"

#include "versus.h"

enum { ELEMENTS = 1000 };

static harray_double x;
static ha_context *device;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_access(ha_context *c, unsigned how, size_t last, size_t count) {
    const double start = now();
    for (size_t i = 0; i < count; i++) {
        ha_access v;
        if (ha_open(&v, x.array, c, how, 0, last) != HA_OK) return -1;
        __asm__ volatile("" ::"r"(v.data) : "memory");
        if (ha_close(&v) != HA_OK) return -1;
    }
    return now() - start;
}

static double time_create(size_t n, size_t count) {
    const double start = now();
    for (size_t i = 0; i < count; i++) {
        harray_double y = harray_double_new(n);
        __asm__ volatile("" ::"r"(y.array) : "memory");
        if (!y.array || harray_double_free(&y) != HA_OK) return -1;
    }
    return now() - start;
}

static double read_host(void *data, size_t count) {
    (void)data;
    return time_access(NULL, HA_READ, HA_END, count);
}

static double write_host(void *data, size_t count) {
    (void)data;
    return time_access(NULL, HA_WRITE, HA_END, count);
}

static double read_range(void *data, size_t count) {
    (void)data;
    return time_access(NULL, HA_READ, ELEMENTS / 2, count);
}

static double read_device(void *data, size_t count) {
    (void)data;
    return time_access(device, HA_READ, HA_END, count);
}

static double create_small(void *data, size_t count) {
    (void)data;
    return time_create(32, count);
}

/* NULL when the library does not work. */
__attribute__((visibility("default"))) const versus_function *versus_functions(void) {
    static const versus_function functions[] = {
        {"read on the host", read_host},          {"write on the host", write_host},
        {"read a range on the host", read_range}, {"read on sim", read_device},
        {"create and free 256 B", create_small},  {NULL, NULL},
    };
    x = harray_double_zeros(ELEMENTS);
    device = ha_context_find("sim:0");
    if (ha_array_prefetch(x.array, device, 0, HA_END) != HA_OK) return NULL;
    return ha_context_finish(device) == HA_OK ? functions : NULL;
}
