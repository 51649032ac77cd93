#ifndef HARRAY_IMPL_NDARRAY_ALL_H
#define HARRAY_IMPL_NDARRAY_ALL_H

#include "view.h"
#include "open_many.h"
#include "darray_copy.h"
#include "copy_plan.h"
#include "copy_plan_run.h"
#include "darray.h"
#include "open_view.h"
#include "darray_contents.h"
#include "darray_text.h"
#include "darray_print.h"
#include "darray_wrap.h"
#include "open_any.h"
#include "run_with.h"
#include "view_shape.h"

#endif
