/* Blocks that are as small as any that give way, and how much memory some of them need. */
#ifndef HARRAY_TESTS_SUPPORT_LEAST_BLOCKS_H
#define HARRAY_TESTS_SUPPORT_LEAST_BLOCKS_H

#include "bounded_memory.h"

enum { N = 8192, BYTES = N * (int)sizeof(double) };

/* For so many of them, and half of one. */
static inline size_t room_for(size_t n) { return (2 * n + 1) * BYTES / 2; }

#endif
