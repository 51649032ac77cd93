/* Arrays of n dimensions and HDF5: whole arrays as datasets, and views as blocks of datasets.
 *
 *     HA_CHECK(darray_save_hdf5(HA_DARRAY(u), "run.h5", "step/u"));       // h5py.File("run.h5")["step/u"]
 *     darray v = darray_load_hdf5("run.h5", "step/u", gpu);               // an owner
 *
 *     const int64_t at[] = {100, 0};                                      // in a dataset that is there
 *     HA_CHECK(darray_write_hdf5(HA_DARRAY(u), file, "all", at));         // file: a hid_t
 *     HA_CHECK(darray_read_hdf5(HA_DARRAY(u), file, "all", at));
 *
 * Dimensions of the view are dimensions of the dataset, in the same order (the last one is fastest in the file); origins do
 * not matter, ghost cells are elements as all others. Values may be anywhere, and views may lie in any way: what is read is
 * opened on the host, and moves there as far as it is missing. A view whose elements lie without gaps in this order is
 * given to HDF5 in place, any other goes through a buffer of its size.
 *
 * Types are the same in the file and in memory, but for the order of bytes, which HDF5 changes: a number that is to become
 * another one is converted by darray_convert, which says what does not fit.
 *
 * Errors, with the names of the dataset, the file and the array: HA_ERR_ARGUMENT for another type or rank, a block that is
 * not all in the dataset, and what is no dataset or no file of HDF5's; HA_ERR_NOT_FOUND for a file or a dataset that is not
 * there; HA_ERR_UNSUPPORTED for elements that the other side does not have; HA_ERR_MEMORY; those of ha_open. What
 * HDF5 refuses is HA_ERR_BACKEND with what it says at the innermost place; it prints nothing. A call that fails changes
 * nothing, but for what HDF5 has begun to write to a dataset, or to read into a view in place, when it fails.
 *
 * These functions call HDF5 one after the other, from any threads: so threads of ranks that share several files make their
 * collective calls in the same order on all ranks. Other calls of HDF5 may run beside them where the
 * library is made for that (H5is_library_threadsafe). No handle stays open. */
#ifndef HARRAY_HDF5_H
#define HARRAY_HDF5_H

#include "darray.h"
#include <hdf5.h>

/* Makes a dataset with the view's type and extents, and the groups in its path that are missing; and the file, if there is
 * none. HA_ERR_ARGUMENT, too: there is something of that name already; a pointer is NULL. By one process: ranks that
 * share a file use darray_write_hdf5. */
HA_API HA_MUST_CHECK ha_status darray_save_hdf5(darray x, const char *path, const char *dataset);

/* A new array with a dataset's type, extents and elements, row-major; the caller owns it. `context`: where it is to be,
 * NULL as usual; the values are on their way there. Errors as darray_new, too. */
HA_API darray darray_load_hdf5(const char *path, const char *dataset, ha_context *context);

/* Writes the elements of x to a dataset that is there, and reads them from it: the block that begins at `offset`, an index
 * for each dimension (NULL: 0, 0, …). `where` is a file or a group, and `dataset` a path in it; or `where` is the dataset, and
 * `dataset` is NULL. A view that repeats elements can only be written to a file.
 *
 * Where ranks have opened the file together (H5Pset_fapl_mpio), all of them have to call, each with its own block and the
 * same dataset; one that has none gives a view without elements. The transfer is collective; with Open MPI, whose
 * collective transfers lose elements before 5.0.6, each rank makes its own, but for what goes through filters when
 * it is written: HDF5 has no other way for that. What is refused on one rank
 * is done on none: the others get HA_ERR_LOST, which names the rank, and nobody waits for ever. That asks for a
 * `where` that is open on each rank: one that is not open is refused at once. MPI has to be there, and this thread may
 * call it. */
HA_API HA_MUST_CHECK ha_status darray_write_hdf5(darray x, hid_t where, const char *dataset,
                                                 const int64_t *offset);
HA_API HA_MUST_CHECK ha_status darray_read_hdf5(darray x, hid_t where, const char *dataset,
                                                const int64_t *offset);

/* The type in HDF5 of elements of this type, as they are in memory: to make datasets by H5Dcreate, with chunks, filters or
 * the extents of all ranks together. The caller closes it (H5Tclose). Complex numbers are structs {r, i} and bool is an
 * enumeration {FALSE, TRUE}, both as h5py has them; half and bfloat16 are floats of 2 bytes. H5I_INVALID_HID:
 * HA_ERR_ARGUMENT for no type, HA_ERR_BACKEND. */
HA_API hid_t darray_hdf5_type(ha_dtype type);

#endif
