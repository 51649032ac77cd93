/* Two translation units, in C and C++, that use harray together; see tools/compile-matrix. */
#ifndef USER_H
#define USER_H

#include "harray.h"

/* Uses every public macro on a context. Returns how many of its checks failed. */
HA_API int use_everything(ha_context *context);

#endif
