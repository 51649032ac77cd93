#ifndef HARRAY_IMPL_STATE_ALL_H
#define HARRAY_IMPL_STATE_ALL_H

#include "array_ops.h"
#include "array_state.h"
#include "holders.h"
#include "ids.h"
#include "labels.h"
#include "keepers.h"
#include "dependencies.h"
#include "access_debug.h"
#include "freed.h"
#include "array_events.h"
#include "lost.h"
#include "write_errors.h"
#include "strict.h"
#include "owners.h"

#endif
