#ifndef HARRAY_LAYOUT_IMPL_TREE_ALL_H
#define HARRAY_LAYOUT_IMPL_TREE_ALL_H

#include "functors.h"
#include "tree.h"
#include "branches.h"
#include "tree_of.h"

#endif
