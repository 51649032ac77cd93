#ifndef HARRAY_LAYOUT_IMPL_RECORD_ALL_H
#define HARRAY_LAYOUT_IMPL_RECORD_ALL_H

#include "paths.h"
#include "record.h"
#include "record_text.h"

#endif
