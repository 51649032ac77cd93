#ifndef HARRAY_LAYOUT_IMPL_VIEW_ALL_H
#define HARRAY_LAYOUT_IMPL_VIEW_ALL_H

#include "advise.h"
#include "match.h"
#include "view_mapped.h"

#endif
