/* harray_mpi.h: arrays between the ranks of a program that uses MPI. docs/mpi.md has programs, harray/mpi.h is the
 * manual.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before every
 * system header. It brings harray_records.h, and <mpi.h>: it is compiled and linked as MPI says (mpicc). */
#include "harray_records.h"

#ifndef HARRAY_WITH_MPI_H
#define HARRAY_WITH_MPI_H

#include "harray/mpi.h"

#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_MPI_IMPLEMENTED
#define HARRAY_MPI_IMPLEMENTED
#include "harray/impl/dense/all.h"
#include "harray/impl/mpi/all.h"
#endif
