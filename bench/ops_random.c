/* Random numbers against a loop by hand: Philox 4x32-10, block by block, of the same bits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_ops.h"

#include "bench.h"
#include <string.h>

#define LOOP __attribute__((noinline, aligned(64))) static
enum { BYTES = 1 << 17, SEED = 7 };

static void philox_by_hand(uint64_t counter, uint32_t out[4]) {
    uint32_t k0 = SEED, k1 = 0;
    out[0] = (uint32_t)counter, out[1] = (uint32_t)(counter >> 32), out[2] = out[3] = 0;
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)out[0] * 0xD2511F53u, q = (uint64_t)out[2] * 0xCD9E8D57u;
        const uint32_t a = (uint32_t)(q >> 32) ^ out[1] ^ k0;
        out[2] = (uint32_t)(p >> 32) ^ out[3] ^ k1;
        out[0] = a, out[1] = (uint32_t)q, out[3] = (uint32_t)p;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
}
LOOP void doubles_by_hand(double *x) {
    uint32_t out[4];
    for (int64_t i = 0; i < BYTES / 16; i++) {
        philox_by_hand((uint64_t)i, out);
        x[2 * i] = (double)((out[0] | (uint64_t)out[1] << 32) >> 11) * 0x1p-53;
        x[2 * i + 1] = (double)((out[2] | (uint64_t)out[3] << 32) >> 11) * 0x1p-53;
    }
}
LOOP void floats_by_hand(float *x) {
    uint32_t out[4];
    for (int64_t i = 0; i < BYTES / 16; i++) {
        philox_by_hand((uint64_t)i, out);
        for (int k = 0; k < 4; k++) x[4 * i + k] = (float)(out[k] >> 8) * 0x1p-24f;
    }
}
LOOP void bits_by_hand(void *x) {
    uint32_t out[4];
    for (size_t i = 0; i < BYTES / 16; i++) {
        philox_by_hand(i, out);
        memcpy((char *)x + 16 * i, out, sizeof out);
    }
}

typedef struct work {
    darray x;
    double by_hand[BYTES / 8];
} work;

BENCH_TIME(random, HA_CHECK(ha_random(w->x, SEED, NULL)))
BENCH_TIME(doubles_by_hand, doubles_by_hand(w->by_hand))
BENCH_TIME(floats_by_hand, floats_by_hand((float *)(void *)w->by_hand))
BENCH_TIME(bits_by_hand, bits_by_hand(w->by_hand))

/* 1 GB/s is a byte in a nanosecond. */
static void figure(const char *name, darray x, bench_function *by_hand) {
    static work w;
    w.x = x;
    bench_run(&(bench_figure){name, time_random, &w, "by hand", by_hand, &w, 1.1, BYTES, BYTES});
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "plain");
    harray_double d = harray_double_new(BYTES / 8);
    harray_float f = harray_float_new(BYTES / 4);
    harray_uint32_t u = harray_uint32_t_new(BYTES / 4);
    harray_half h = harray_half_new(BYTES / 2);
    harray_uint8_t b = harray_uint8_t_new(BYTES);
    figure("random double", HA_DARRAY(d), time_doubles_by_hand);
    figure("random float", HA_DARRAY(f), time_floats_by_hand);
    figure("random uint32_t", HA_DARRAY(u), time_bits_by_hand);
    figure("random half", HA_DARRAY(h), time_floats_by_hand);
    figure("random uint8_t", HA_DARRAY(b), time_bits_by_hand);
    HA_CHECK(harray_double_free(&d));
    HA_CHECK(harray_float_free(&f));
    HA_CHECK(harray_uint32_t_free(&u));
    HA_CHECK(harray_half_free(&h));
    HA_CHECK(harray_uint8_t_free(&b));
    return 0;
}
