/* The implementation for programs of tests in which an allocation can fail: what they include first. */
#ifndef HARRAY_TESTS_OPS_SPARING_H
#define HARRAY_TESTS_OPS_SPARING_H

static void *sparing_malloc(__SIZE_TYPE__ bytes);
#define HARRAY_MALLOC sparing_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

/* So many allocations until one fails; below zero: none does. A device's threads count, too. */
static _Atomic int until_failure = -1;
static _Thread_local int is_spared; /* but not while this says so */
static void *sparing_malloc(size_t bytes) {
    return !is_spared && until_failure >= 0 && until_failure-- == 0 ? NULL : malloc(bytes);
}

#endif
