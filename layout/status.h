/* What every public header begins with, of layout.h and of harray.h: how functions are declared, and
 * the words for errors. */
#ifndef HARRAY_LAYOUT_STATUS_H
#define HARRAY_LAYOUT_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef HARRAY_PREFIX
#include "detail/rename.h"
#endif

/* What the implementation defines. With HARRAY_EXPORT a shared library that is built with
 * -fvisibility=hidden shows it all the same. With HARRAY_STATIC, for programs that are one file, that
 * file keeps it to itself: what it does not call is not compiled, which takes half of the time. */
#ifdef HARRAY_EXPORT
#define HA_VISIBLE_ __attribute__((__visibility__("default")))
#else
#define HA_VISIBLE_
#endif
/* Functions and variables that are the implementation's own. Gcc without optimisation keeps functions that
 * nobody calls, unless they are inline. Tests define them otherwise (tests/support/linked.h). */
#ifndef HA_IN_
#if defined HARRAY_STATIC && !defined __OPTIMIZE__
#define HA_IN_ static inline
#define HA_NOINLINE_
#else
#define HA_IN_ static
#define HA_NOINLINE_ __attribute__((__noinline__))
#endif
#define HA_STATE_ static
#endif
#ifdef HA_API
#elif defined HARRAY_STATIC
#define HA_API HA_IN_ HA_UNUSED
#elif defined __cplusplus
#define HA_API extern "C" HA_VISIBLE_
#else
#define HA_API extern HA_VISIBLE_
#endif

#if SIZE_MAX != UINT64_MAX
#error "harray counts elements in 64 bits: this platform has other sizes"
#endif

#ifdef __cplusplus /* so that these headers are quiet under -Wold-style-cast and the like */
#define HA_NULL_ nullptr
#define HA_CAST_(T, pointer) (static_cast<T>(static_cast<void *>(pointer)))
#define HA_NUMBER_(pointer) (reinterpret_cast<uintptr_t>(pointer))
#define HA_ADDRESS_(number) (reinterpret_cast<void *>(number))
#else
#define HA_NULL_ NULL
#define HA_CAST_(T, pointer) ((T)(void *)(pointer))
#define HA_NUMBER_(pointer) ((uintptr_t)(pointer))
#define HA_ADDRESS_(number) ((void *)(number))
#endif

#define HA_MUST_CHECK __attribute__((__warn_unused_result__))
#define HA_UNUSED __attribute__((__unused__))
#define HA_QUOTED_(x) #x
#define HA_STRING_(x) HA_QUOTED_(x)
#define HA_JOINED_(a, b) a##b
#define HA_JOIN_(a, b) HA_JOINED_(a, b)
#define HA_VARIANT_OF_(name, which) name##which##_
#define HA_VARIANT_(name, which) HA_VARIANT_OF_(name, which) /* of HA_PATH_ and 2: HA_PATH_2_ */
#define HA_SITE __FILE__ ":" HA_STRING_(__LINE__)            /* a call site, as text */

/* 0 is success. Every other value has a stable name, which harray's ha_status_name() gives. */
typedef enum ha_status {
    HA_OK = 0,
    HA_ERR_ARGUMENT,    /* an argument makes no sense: index, range, null pointer, element size */
    HA_ERR_MEMORY,      /* a memory is full, or the size asked for overflows 64 bits */
    HA_ERR_STATE,       /* the object is not in a state for it: never written, closed, forked */
    HA_ERR_CONFLICT,    /* this thread already holds an access that excludes the call */
    HA_ERR_DEADLOCK,    /* waiting would never end: threads wait for each other's accesses */
    HA_ERR_BUSY,        /* HA_TRY, prefetch: another thread uses it. An answer, not recorded */
    HA_ERR_LOST,        /* the values are gone: a device failed before it had written them */
    HA_ERR_BACKEND,     /* a device or its driver refused */
    HA_ERR_UNSUPPORTED, /* this context cannot do that */
    HA_ERR_NOT_FOUND,   /* no such context, device or type */
    HA_ERR_TRANSFER,    /* inside HA_NO_TRANSFERS, and a copy would have been needed */
    HA_ERR_COMPILE      /* a device's compiler refused a kernel's text */
} ha_status;

typedef struct ha_error {
    ha_status status;      /* HA_OK: there was no error */
    const char *operation; /* the public name of what failed: "ha_open", "ha_array_resize", … */
    int64_t code;          /* the backend's own error number; 0 when it has none */
    char text[400];        /* one line: what was wrong, with which array, sizes, contexts, where */
} ha_error;

#endif
