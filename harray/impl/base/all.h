#ifndef HARRAY_IMPL_BASE_ALL_H
#define HARRAY_IMPL_BASE_ALL_H

#include "../../../layout/impl/base/characters.h"
#include "../../../layout/impl/base/json.h"
#include "address_tree.h"
#include "asked.h"
#include "box.h"
#include "cancel.h"
#include "error.h"
#include "human.h"
#include "kept_list.h"
#include "may_wait.h"
#include "range_index.h"
#include "range_set.h"
#include "self.h"
#include "steps.h"
#include "thread.h"
#include "version.h"

#endif
