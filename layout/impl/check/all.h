#ifndef HARRAY_LAYOUT_IMPL_CHECK_ALL_H
#define HARRAY_LAYOUT_IMPL_CHECK_ALL_H

#include "check_coding.h"
#include "check_tree.h"
#include "check.h"

#endif
