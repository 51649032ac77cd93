/* Whether ranks may transfer a file together. By ROMIO they may: MPICH's files are its, and those of what is made of MPICH.
 * OMPIO, which is Open MPI's, loses elements in collective transfers: it reads what lies between those of a rank, and writes
 * it back over what others have written meanwhile (before 5.0.6: https://github.com/open-mpi/ompi/pull/12759); and ranks
 * that read the same elements may not get them (before 4.1.5: https://github.com/open-mpi/ompi/issues/10546). By Open MPI each
 * rank transfers its elements by itself, whichever it opens a file with: it does not tell. To be included behind <mpi.h>. */
#ifndef HARRAY_DETAIL_OMPIO_H
#define HARRAY_DETAIL_OMPIO_H

#ifdef OPEN_MPI
#define HA_MPI_FILES_TOGETHER_ 0
#else
#define HA_MPI_FILES_TOGETHER_ 1
#endif

#endif
