/* Which harray this is: of the headers, known to the preprocessor, and of the library a program is
 * linked with. */
#ifndef HARRAY_VERSION_H
#define HARRAY_VERSION_H

#include "../layout/status.h"

#ifdef HARRAY_PREFIX
#include "detail/rename.h"
#endif

#define HARRAY_VERSION_MAJOR 0
#define HARRAY_VERSION_MINOR 1
#define HARRAY_VERSION_PATCH 0
#define HARRAY_VERSION                                                                             \
    HA_STRING_(HARRAY_VERSION_MAJOR)                                                               \
    "." HA_STRING_(HARRAY_VERSION_MINOR) "." HA_STRING_(HARRAY_VERSION_PATCH)

/* HARRAY_VERSION of the file that was compiled with HARRAY_IMPLEMENTATION. Another one than that of
 * the headers: a program was compiled with headers of one version, and linked with a library of
 * another. */
HA_API const char *ha_version(void);

#endif
