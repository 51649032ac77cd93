/* Kernels of operations that a fake driver knows, by their keys. */
#ifndef HARRAY_TESTS_OPS_KNOWN_KEYS_H
#define HARRAY_TESTS_OPS_KNOWN_KEYS_H

#define PLACES(X)                                                                                  \
    X(0)                                                                                           \
    X(1)                                                                                           \
    X(2)                                                                                           \
    X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)
enum { MOST_KNOWN = 20 };
static const ha_kernel *known_here[MOST_KNOWN];
#define RUN_HERE(n)                                                                                \
    static void run_here_##n(void **given, const fake_cuda_launch *launch) {                       \
        run_known_kernel(known_here[n], given, launch);                                            \
    }
PLACES(RUN_HERE)
#define NAME_HERE(n) run_here_##n,
static const fake_cuda_body run_here[] = {PLACES(NAME_HERE)};

/* In place of what has been known there before. */
static void know_key(int place, const ha_op_key *key) {
    known_here[place] = ha_op_kernel_of(key);
    assert_non_null(known_here[place]);
    know_kernel(&(const known_kernel){known_here[place], run_here[place]});
}

#endif
