/* Layouts on memory that counts, and that fails on demand. Comes before layout.h. */
#ifndef HARRAY_TESTS_SUPPORT_LAYOUT_MEMORY_H
#define HARRAY_TESTS_SUPPORT_LAYOUT_MEMORY_H

#include <stdlib.h>

static long allocated,
    until_failure = -1; /* blocks in use; allocations that still succeed, < 0: all */

static void *counted_malloc(size_t size) {
    void *memory = NULL;
    if (until_failure != 0) memory = malloc(size);
    if (until_failure > 0) until_failure--;
    if (memory) allocated++;
    return memory;
}

static void counted_free(void *memory) {
    if (memory) allocated--;
    free(memory);
}

#define HARRAY_MALLOC(size) counted_malloc(size)
#define HARRAY_FREE(memory) counted_free(memory)
#include "own_memory.h"
#define HA_LAYOUT_IMPLEMENTATION

#endif
