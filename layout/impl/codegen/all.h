#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_ALL_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_ALL_H

#include "code.h"
#include "values.h"
#include "bits.h"
#include "tree.h"
#include "mapping.h"

#endif
