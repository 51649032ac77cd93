/* The run-time part of layouts: included by layout.h in the one file that asks for it. */
#ifndef HARRAY_LAYOUT_IMPL_ALL_H
#define HARRAY_LAYOUT_IMPL_ALL_H

#ifdef __cplusplus
#error "HA_LAYOUT_IMPLEMENTATION belongs in a C file; C++ files include layout.h without it"
#endif

#include "../mapping.h"
#include "basics.h"
#include "reader.h"
#include "record.h"
#include "record_text.h"
#include "layout_text.h"
#include "build.h"
#include "counts.h"
#include "functors.h"
#include "tree.h"
#include "branches.h"
#include "tree_build.h"
#include "tree_run.h"
#include "tree_of.h"
#include "check_tree.h"
#include "split.h"
#include "place.h"
#include "mapping.h"
#include "device.h"
#include "json.h"
#include "check.h"
#include "counts_text.h"
#include "counts_read.h"
#include "svg.h"
#include "mapped.h"
#include "copy.h"
#include "arithmetic.h"
#include "view.h"
#include "advise.h"
#include "view_mapped.h"

#endif
