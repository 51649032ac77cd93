/* The engine's records, from model_records.h. To be included before harray.h, and that behind it. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_MEMORY_H
#define HARRAY_TESTS_SCHEDULES_MODEL_MEMORY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* as harray.h needs it */
#endif
#include <stddef.h>

static void *model_malloc(size_t bytes);
static void *model_realloc(void *memory, size_t bytes);
static void model_free(void *memory);
#define HARRAY_MALLOC model_malloc
#define HARRAY_REALLOC model_realloc
#define HARRAY_FREE model_free
#include "../support/own_memory.h"

#endif
