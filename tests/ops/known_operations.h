/* How a fake driver knows all kernels of operations: it asks for them by their names, which tell them apart. So operations that
 * are made of others can be launched there. */
#ifndef HARRAY_TESTS_OPS_KNOWN_OPERATIONS_H
#define HARRAY_TESTS_OPS_KNOWN_OPERATIONS_H

#include "../support/fake_kernels.h"

_Static_assert((int)HA_MOST_ARGUMENTS <= (int)FAKE_CUDA_MOST_SIZES, "a kernel has more parameters");

static const ha_kernel *operation_named(const char *entry) {
    static const char prefix[] = "ha_entry_";
    if (strncmp(entry, prefix, sizeof prefix - 1)) return NULL;
    for (int i = 0; i < HA_OP_BUCKETS; i++) {
        const ha_op_kernel *k = __atomic_load_n(&ha_op_kernels.bucket[i], __ATOMIC_ACQUIRE);
        for (; k; k = k->next)
            if (!strcmp(k->name, entry + sizeof prefix - 1)) return &k->op.kernel;
    }
    return NULL;
}

static void run_operation(void **given, const fake_cuda_launch *launch) {
    const ha_kernel *k = operation_named(launch->name);
    if (!k) abort();
    run_known_kernel(k, given, launch);
}

static int find_operation(const char *entry, fake_cuda_body *body, size_t *sizes) {
    const ha_kernel *k = operation_named(entry);
    *body = run_operation;
    return k ? (int)known_sizes(k, sizes) : -1;
}

/* A case in which they are known: drivers are reset between rows only. */
static int begin_operations(void **state) {
    if (is_fake(C)) cuda_fake()->find_kernels(find_operation);
    return begin_case(state);
}
#define OPERATIONS(name) cmocka_unit_test_setup_teardown(name, begin_operations, end_case)

#endif
