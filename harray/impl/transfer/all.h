#ifndef HARRAY_IMPL_TRANSFER_ALL_H
#define HARRAY_IMPL_TRANSFER_ALL_H

#include "reclaim.h"
#include "links.h"
#include "plan.h"
#include "queue.h"
#include "incarnation.h"
#include "chunks.h"
#include "transfer.h"
#include "staging.h"
#include "device_staging.h"

#endif
