/* Arrays and MPI: included by harray_mpi.h in the one file that defines HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_IMPL_MPI_ALL_H
#define HARRAY_IMPL_MPI_ALL_H

#include "library.h"
#include "traced.h"
#include "aware.h"
#include "fields.h"
#include "records.h"
#include "rows.h"
#include "side.h"
#include "signature.h"
#include "message.h"
#include "checked.h"
#include "requests.h"
#include "small_floats.h"
#include "agree.h"
#include "collective.h"
#include "meetings.h"
#include "waiting.h"
#include "halo_boxes.h"
#include "halo_fields.h"
#include "halo_new.h"
#include "halo_run.h"
#include "file_blocks.h"
#include "file_transfer.h"
#include "file.h"

#endif
