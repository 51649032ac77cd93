#ifndef HARRAY_LAYOUT_IMPL_BASE_ALL_H
#define HARRAY_LAYOUT_IMPL_BASE_ALL_H

#include "basics.h"
#include "characters.h"
#include "json.h"
#include "reader.h"
#include "steps.h"
#include "text.h"

#endif
