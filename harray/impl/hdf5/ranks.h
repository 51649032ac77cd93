/* The ranks that have opened a file together, who agree before a transfer and behind it. Of a file that one process has
 * opened there are none. */
#ifndef HARRAY_IMPL_HDF5_RANKS_H
#define HARRAY_IMPL_HDF5_RANKS_H

#include "types.h"

#ifdef H5_HAVE_PARALLEL

#include "../../detail/ompio.h"

typedef struct ha_hdf5_ranks {
    MPI_Comm comm; /* MPI_COMM_NULL: there are none */
} ha_hdf5_ranks;

HA_IN_ ha_hdf5_ranks ha_hdf5_no_ranks(void) { return (ha_hdf5_ranks){MPI_COMM_NULL}; }

/* Collective. `where` is anything in the file. */
HA_IN_ ha_status ha_hdf5_ranks_begin(ha_hdf5_ranks *ranks, const ha_hdf5_call *call) {
    MPI_Info info = MPI_INFO_NULL;
    *ranks = ha_hdf5_no_ranks();
    const hid_t file = H5Iget_file_id(call->where);
    if (file < 0) return ha_hdf5_failed(call, "finding the file");
    const hid_t how = H5Fget_access_plist(file);
    (void)H5Fclose(file);
    if (how < 0) return ha_hdf5_failed(call, "asking how the file was opened");
    ha_status s = HA_OK;
    if (H5Pget_driver(how) == H5FD_MPIO && H5Pget_fapl_mpio(how, &ranks->comm, &info) < 0)
        s = ha_hdf5_failed(call, "asking for the ranks");
    if (info != MPI_INFO_NULL) (void)MPI_Info_free(&info);
    (void)H5Pclose(how);
    return s;
}

HA_IN_ void ha_hdf5_ranks_end(ha_hdf5_ranks *ranks) {
    if (ranks->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&ranks->comm);
}

/* Collective: what is wrong on one rank, all hear of. s: whether this one's part is sound. */
HA_IN_ ha_status ha_hdf5_agree(const ha_hdf5_ranks *ranks, ha_status s, const ha_hdf5_call *call) {
    int rank = 0, against, first = 0;
    if (ranks->comm == MPI_COMM_NULL) return s;
    (void)MPI_Comm_rank(ranks->comm, &rank);
    against = s ? rank : INT_MAX;
    if (MPI_Allreduce(&against, &first, 1, MPI_INT, MPI_MIN, ranks->comm) != MPI_SUCCESS && !s)
        return ha_hdf5_fail(HA_ERR_BACKEND, call, "MPI_Allreduce failed");
    if (s || first == INT_MAX) return s;
    return ha_hdf5_fail(HA_ERR_LOST, call, "rank %d has failed", first);
}

/* Below 0: HDF5 has failed. */
HA_IN_ int ha_hdf5_filters_of(hid_t dataset) {
    const hid_t made = H5Dget_create_plist(dataset);
    const int filters = made < 0 ? -1 : H5Pget_nfilters(made);
    if (made >= 0) (void)H5Pclose(made);
    return filters;
}

/* How a transfer is made, H5P_DEFAULT for one of one process, or of each rank by itself; below 0: HDF5 has failed. What
 * goes through filters HDF5 writes for all ranks together only. */
HA_IN_ hid_t ha_hdf5_transfer_of(const ha_hdf5_ranks *ranks, hid_t dataset, int writes) {
    int filters = 0;
    if (ranks->comm == MPI_COMM_NULL) return H5P_DEFAULT;
    if (writes && !HA_MPI_FILES_TOGETHER_) filters = ha_hdf5_filters_of(dataset);
    if (filters < 0) return H5I_INVALID_HID;
    if (!HA_MPI_FILES_TOGETHER_ && !filters) return H5P_DEFAULT;
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    if (how < 0 || H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE) >= 0) return how;
    (void)H5Pclose(how);
    return H5I_INVALID_HID;
}

#else

typedef struct ha_hdf5_ranks {
    char none;
} ha_hdf5_ranks;

HA_IN_ ha_hdf5_ranks ha_hdf5_no_ranks(void) { return (ha_hdf5_ranks){0}; }

HA_IN_ ha_status ha_hdf5_ranks_begin(ha_hdf5_ranks *ranks, const ha_hdf5_call *call) {
    *ranks = ha_hdf5_no_ranks();
    const hid_t file = H5Iget_file_id(call->where);
    if (file < 0) return ha_hdf5_failed(call, "finding the file");
    (void)H5Fclose(file);
    return HA_OK;
}

HA_IN_ void ha_hdf5_ranks_end(ha_hdf5_ranks *ranks) { (void)ranks; }

HA_IN_ ha_status ha_hdf5_agree(const ha_hdf5_ranks *ranks, ha_status s, const ha_hdf5_call *call) {
    (void)ranks, (void)call;
    return s;
}

HA_IN_ hid_t ha_hdf5_transfer_of(const ha_hdf5_ranks *ranks, hid_t dataset, int writes) {
    (void)ranks, (void)dataset, (void)writes;
    return H5P_DEFAULT;
}

#endif

#endif
