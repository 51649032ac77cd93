/* HDF5 as the tests see it: one call of the implementation's may fail, without having done anything. To be included before
 * harray_hdf5.h; behind it hdf5_as_it_is.h takes that back for the tests' own calls. */
#ifndef HARRAY_TESTS_HDF5_WATCH_HDF5_H
#define HARRAY_TESTS_HDF5_WATCH_HDF5_H

#include <hdf5.h>
#include <pthread.h>
#include <stdlib.h>

/* How many calls are to succeed before one fails; -1: all. */
static int hdf5_fails_at = -1, hdf5_has_failed;
static int hdf5_closing_failed; /* that was it */
static int hdf5_open;           /* handles that the implementation has opened and not closed */

/* Nonzero once. HDF5 is called under the mutex alone. */
static int hdf5_fails_now(int is_locked) {
    if (!is_locked) abort();
    if (hdf5_fails_at < 0 || hdf5_fails_at-- > 0) return 0;
    hdf5_has_failed = 1;
    return 1;
}

static void hdf5_arm(int after) {
    hdf5_has_failed = hdf5_closing_failed = 0;
    hdf5_fails_at = after;
}

static hid_t hdf5_opened(hid_t handle) {
    hdf5_open += handle > 0;
    return handle;
}

static herr_t hdf5_closed(herr_t done) {
    hdf5_open -= done >= 0;
    return done;
}

#define HDF5_IS_LOCKED (pthread_mutex_trylock(&ha_hdf5_mutex) != 0)
#define UNLESS_IT_FAILS(call) (hdf5_fails_now(HDF5_IS_LOCKED) ? -1 : (call))
#define H5Dcreate2(...) UNLESS_IT_FAILS(hdf5_opened(H5Dcreate2(__VA_ARGS__)))
#define H5Dget_create_plist(...) UNLESS_IT_FAILS(hdf5_opened(H5Dget_create_plist(__VA_ARGS__)))
#define H5Dget_space(...) UNLESS_IT_FAILS(hdf5_opened(H5Dget_space(__VA_ARGS__)))
#define H5Dget_type(...) UNLESS_IT_FAILS(hdf5_opened(H5Dget_type(__VA_ARGS__)))
#define H5Fcreate(...) UNLESS_IT_FAILS(hdf5_opened(H5Fcreate(__VA_ARGS__)))
#define H5Fopen(...) UNLESS_IT_FAILS(hdf5_opened(H5Fopen(__VA_ARGS__)))
#define H5Iinc_ref(handle) UNLESS_IT_FAILS(H5Iinc_ref(handle) < 0 ? -1 : (hdf5_opened(handle), 0))
#define H5Lexists(...) UNLESS_IT_FAILS(H5Lexists(__VA_ARGS__))
#define H5Oopen(...) UNLESS_IT_FAILS(hdf5_opened(H5Oopen(__VA_ARGS__)))
#define H5Pcreate(...) UNLESS_IT_FAILS(hdf5_opened(H5Pcreate(__VA_ARGS__)))
#define H5Pget_nfilters(...) UNLESS_IT_FAILS(H5Pget_nfilters(__VA_ARGS__))
#define H5Pset_create_intermediate_group(...)                                                      \
    UNLESS_IT_FAILS(H5Pset_create_intermediate_group(__VA_ARGS__))
#define H5Pset_dxpl_mpio(...) UNLESS_IT_FAILS(H5Pset_dxpl_mpio(__VA_ARGS__))
#define H5Screate(...) UNLESS_IT_FAILS(hdf5_opened(H5Screate(__VA_ARGS__)))
#define H5Screate_simple(...) UNLESS_IT_FAILS(hdf5_opened(H5Screate_simple(__VA_ARGS__)))
#define H5Sget_simple_extent_dims(...) UNLESS_IT_FAILS(H5Sget_simple_extent_dims(__VA_ARGS__))
#define H5Sselect_hyperslab(...) UNLESS_IT_FAILS(H5Sselect_hyperslab(__VA_ARGS__))
#define H5Sselect_none(...) UNLESS_IT_FAILS(H5Sselect_none(__VA_ARGS__))
#define H5Tcopy(...) UNLESS_IT_FAILS(hdf5_opened(H5Tcopy(__VA_ARGS__)))
#define H5Tcreate(...) UNLESS_IT_FAILS(hdf5_opened(H5Tcreate(__VA_ARGS__)))
#define H5Tenum_create(...) UNLESS_IT_FAILS(hdf5_opened(H5Tenum_create(__VA_ARGS__)))
#define H5Tenum_insert(...) UNLESS_IT_FAILS(H5Tenum_insert(__VA_ARGS__))
#define H5Tinsert(...) UNLESS_IT_FAILS(H5Tinsert(__VA_ARGS__))
#define H5Tset_fields(...) UNLESS_IT_FAILS(H5Tset_fields(__VA_ARGS__))
#ifdef HDF5_ON_RANKS /* on one of them these cannot fail: HDF5 itself would have the others wait */
#define H5Fget_access_plist(...) hdf5_opened(H5Fget_access_plist(__VA_ARGS__))
#define H5Iget_file_id(...) hdf5_opened(H5Iget_file_id(__VA_ARGS__))
#else
#define H5Dread(...) UNLESS_IT_FAILS(H5Dread(__VA_ARGS__))
#define H5Dwrite(...) UNLESS_IT_FAILS(H5Dwrite(__VA_ARGS__))
#define H5Fget_access_plist(...) UNLESS_IT_FAILS(hdf5_opened(H5Fget_access_plist(__VA_ARGS__)))
#define H5Iget_file_id(...) UNLESS_IT_FAILS(hdf5_opened(H5Iget_file_id(__VA_ARGS__)))
#endif
#define H5Tget_member_type(...) hdf5_opened(H5Tget_member_type(__VA_ARGS__))
#define H5Dclose(handle) hdf5_closed(H5Dclose(handle))
#define H5Oclose(handle) hdf5_closed(H5Oclose(handle))
#define H5Pclose(handle) hdf5_closed(H5Pclose(handle))
#define H5Sclose(handle) hdf5_closed(H5Sclose(handle))
#define H5Tclose(handle) hdf5_closed(H5Tclose(handle))
/* It is closed all the same. */
static herr_t hdf5_close_file(hid_t file, int is_locked) {
    const herr_t done = hdf5_closed(H5Fclose(file));
    if (!hdf5_fails_now(is_locked)) return done;
    hdf5_closing_failed = 1;
    return -1;
}
#define H5Fclose(file) hdf5_close_file(file, HDF5_IS_LOCKED)

#endif
