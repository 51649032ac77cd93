/* The implementation: included by harray.h in the one file that defines HARRAY_IMPLEMENTATION.
 * docs/engine.md is the map. */
#ifndef HARRAY_IMPL_H
#define HARRAY_IMPL_H

#ifdef __cplusplus
#error "HARRAY_IMPLEMENTATION belongs in a C file; C++ files include harray.h without it"
#endif

#if __STDC_VERSION__ < 201112L
#error "the file that defines HARRAY_IMPLEMENTATION needs -std=c11 or later"
#endif

#include "backends/backend.h"
#include "backends/list.h"
#include "impl/error.h"
#include "impl/thread.h"
#include "impl/ranges.h"
#include "impl/registry.h"
#include "impl/order.h"
#include "impl/blocks.h"
#include "impl/state.h"
#include "impl/plan.h"
#include "impl/copy.h"
#include "impl/conflict.h"
#include "impl/opening.h"
#include "impl/open.h"
#include "impl/array.h"
#include "impl/contents.h"
#include "impl/describe.h"
#include "impl/shutdown.h"
#include "impl/sim_control.h"

#endif
