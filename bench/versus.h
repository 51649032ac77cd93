/* What the two versions that versus.c compares export. */
#ifndef BENCH_VERSUS_H
#define BENCH_VERSUS_H

#include <stddef.h>

/* Does it `count` times; the nanoseconds that took, negative when it failed. */
typedef struct versus_function {
    const char *name; /* NULL: the list's end */
    double (*run)(void *data, size_t count);
} versus_function;

const versus_function *versus_functions(void);

#endif
