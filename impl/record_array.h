/* Record arrays: included by records.h in the one file that defines HARRAY_IMPLEMENTATION. */
#ifndef HA_IMPL_RECORD_ARRAY_H
#define HA_IMPL_RECORD_ARRAY_H

#endif
