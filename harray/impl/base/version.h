/* The version of the implementation. */
#ifndef HARRAY_IMPL_BASE_VERSION_H
#define HARRAY_IMPL_BASE_VERSION_H

#include "../../version.h"

const char *ha_version(void) { return HARRAY_VERSION; }

#endif
