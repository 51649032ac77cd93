#ifndef HARRAY_LAYOUT_IMPL_COPY_ALL_H
#define HARRAY_LAYOUT_IMPL_COPY_ALL_H

#include "match.h"
#include "shape.h"
#include "plan.h"
#include "passes.h"
#include "runs_of_bytes.h"
#include "worker.h"
#include "convert.h"
#include "convert_first.h"
#include "overlap.h"
#include "runs.h"
#include "list.h"
#include "lines.h"
#include "steps.h"
#include "tile.h"
#include "threads.h"
#include "copy.h"

#endif
