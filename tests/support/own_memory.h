/* Behind HARRAY_MALLOC, HARRAY_REALLOC and HARRAY_FREE of a test program (layouts need no HARRAY_REALLOC), and
 * before harray.h or layout.h: an implementation that is linked (linked.h) allocates by them, too. */
#ifndef HARRAY_TESTS_SUPPORT_OWN_MEMORY_H
#define HARRAY_TESTS_SUPPORT_OWN_MEMORY_H

#ifdef HA_INSIDE_IS_LINKED_
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* as harray.h needs it */
#endif
#include <stdlib.h>

void *tested_malloc(size_t bytes);
void tested_free(void *memory);
void *tested_malloc(size_t bytes) { return HARRAY_MALLOC(bytes); }
void tested_free(void *memory) { HARRAY_FREE(memory); }
#undef HARRAY_MALLOC
#undef HARRAY_FREE
#define HARRAY_MALLOC tested_malloc
#define HARRAY_FREE tested_free

#ifdef HARRAY_REALLOC
void *tested_realloc(void *memory, size_t bytes);
void *tested_realloc(void *memory, size_t bytes) { return HARRAY_REALLOC(memory, bytes); }
#undef HARRAY_REALLOC
#define HARRAY_REALLOC tested_realloc
#endif
#endif

#endif
