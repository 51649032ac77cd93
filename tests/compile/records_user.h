/* Record arrays in the subset that C11, C++17 and CUDA share: a unit that includes this, and
 * HARRAY_IMPLEMENTATION elsewhere. */
#ifndef COMPILE_RECORDS_USER_H
#define COMPILE_RECORDS_USER_H

#include <harray_records.h>

#ifdef __cplusplus
extern "C" {
#endif
int use_records(ha_context *context); /* how many checks failed */
#ifdef __cplusplus
}
#endif

#endif
