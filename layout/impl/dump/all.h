#ifndef HARRAY_LAYOUT_IMPL_DUMP_ALL_H
#define HARRAY_LAYOUT_IMPL_DUMP_ALL_H

#include "counts_text.h"
#include "counts_read.h"
#include "json.h"
#include "svg_counts.h"
#include "svg.h"

#endif
