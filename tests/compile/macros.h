/* What other headers define before harray.h is included: everyday words, and those of the standard. */
#ifndef __cplusplus
#include <complex.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <tgmath.h>
#endif
#include <sys/param.h>

#undef min
#undef max
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define unused __attribute__((__unused__))
#define cleanup(function) __attribute__((__cleanup__(function)))
#define always_inline __attribute__((__always_inline__))
#define noinline __attribute__((__noinline__))
#define visibility 1
#define likely(x) __builtin_expect(!!(x), 1)
#define ARRAY_SIZE(x) (sizeof(x) / sizeof(*(x)))
