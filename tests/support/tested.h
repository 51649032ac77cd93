/* Of an implementation that test programs link: its own functions are there for all, and its variables are weak,
 * as the programs have them, too (linked.h). They may have the memory for its records from elsewhere
 * (own_memory.h). Include once, first. */
#ifndef HARRAY_TESTS_SUPPORT_TESTED_H
#define HARRAY_TESTS_SUPPORT_TESTED_H

#define HA_IN_
#define HA_NOINLINE_ __attribute__((__noinline__))
#define HA_STATE_ __attribute__((__weak__))

#define _GNU_SOURCE 1 /* as harray.h needs it */
#include <stdlib.h>

#define HARRAY_MALLOC tested_malloc
#define HARRAY_REALLOC tested_realloc
#define HARRAY_FREE tested_free

void *tested_malloc(size_t bytes);
void *tested_realloc(void *memory, size_t bytes);
void tested_free(void *memory);

__attribute__((__weak__)) void *tested_malloc(size_t bytes) { return malloc(bytes); }
__attribute__((__weak__)) void *tested_realloc(void *memory, size_t bytes) {
    return realloc(memory, bytes);
}
__attribute__((__weak__)) void tested_free(void *memory) { free(memory); }

#endif
