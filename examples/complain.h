/* What the examples say of what goes wrong. */
#ifndef EXAMPLES_COMPLAIN_H
#define EXAMPLES_COMPLAIN_H

#include <stdbool.h>

extern const char program_name[]; /* each program has its own */

/* A line on stderr, behind the program's name; false, so that a function that fails can end with it. */
bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
