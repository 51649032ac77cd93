#ifndef HARRAY_IMPL_ACCESS_ALL_H
#define HARRAY_IMPL_ACCESS_ALL_H

#include "turns.h"
#include "conflict.h"
#include "admit.h"
#include "victims.h"
#include "controller.h"
#include "make_room.h"
#include "write_back.h"
#include "grid.h"
#include "target.h"
#include "prepare.h"
#include "unwritten.h"
#include "opening.h"
#include "reach.h"
#include "run.h"
#include "open.h"
#include "resize.h"
#include "ready.h"
#include "token.h"

#endif
