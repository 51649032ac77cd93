#ifndef HARRAY_LAYOUT_IMPL_MAPPING_ALL_H
#define HARRAY_LAYOUT_IMPL_MAPPING_ALL_H

#include "changes_text.h"
#include "layout_text.h"
#include "builder.h"
#include "computed.h"
#include "split.h"
#include "tree_build.h"
#include "build.h"
#include "counts.h"
#include "place.h"
#include "tree_run.h"
#include "mapping.h"

#endif
