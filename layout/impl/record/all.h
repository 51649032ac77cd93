#ifndef HARRAY_LAYOUT_IMPL_RECORD_ALL_H
#define HARRAY_LAYOUT_IMPL_RECORD_ALL_H

#include "record.h"
#include "record_text.h"

#endif
