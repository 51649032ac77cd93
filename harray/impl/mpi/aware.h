/* Whether MPI takes pointers to a device's memory. It is never tried, as what follows is a segmentation fault: the user
 * says so, or the library does. */
#ifndef HARRAY_IMPL_MPI_AWARE_H
#define HARRAY_IMPL_MPI_AWARE_H

#include "library.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

typedef enum ha_mpi_said {
    HA_MPI_NOT_READ_,
    HA_MPI_SAYS_NOTHING_,
    HA_MPI_YES_,
    HA_MPI_NO_,
    HA_MPI_UNCLEAR_ /* another word: as no, and told by ha_mpi_describe */
} ha_mpi_said;

HA_STATE_ ha_mpi_said ha_mpi_gpu_said;

/* What HARRAY_MPI_GPU says of all devices. */
HA_IN_ ha_mpi_said ha_mpi_user_says(void) {
    ha_mpi_said said = __atomic_load_n(&ha_mpi_gpu_said, __ATOMIC_RELAXED);
    if (said) return said;
    const char *text = getenv("HARRAY_MPI_GPU");
    said = text && *text ? HA_MPI_UNCLEAR_ : HA_MPI_SAYS_NOTHING_;
    if (text && (!strcmp(text, "yes") || !strcmp(text, "1"))) said = HA_MPI_YES_;
    if (text && (!strcmp(text, "no") || !strcmp(text, "0"))) said = HA_MPI_NO_;
    __atomic_store_n(&ha_mpi_gpu_said, said, __ATOMIC_RELAXED);
    return said;
}

/* Whether the library says that it takes pointers of CUDA. MPI was initialised. */
HA_IN_ int ha_mpi_library_takes_cuda(void) {
    static int known; /* plus 1; 0: not asked yet */
    int takes = __atomic_load_n(&known, __ATOMIC_RELAXED) - 1;
    if (takes >= 0) return takes;
    takes = 0;
#ifdef MPIX_GPU_SUPPORT_CUDA
    if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes)) takes = 0;
#elif defined MPIX_CUDA_AWARE_SUPPORT
    takes = MPIX_Query_cuda_support();
#endif
    takes = takes != 0;
    __atomic_store_n(&known, takes + 1, __ATOMIC_RELAXED);
    return takes;
}

/* Memory that has no addresses for others than the device's own queues: a buffer of OpenCL, a file. */
HA_IN_ int ha_mpi_has_addresses(const ha_context *c) {
    const char *kind = ha_context_kind(c);
    return strcmp(kind, "opencl") != 0 && strcmp(kind, "file") != 0;
}

/* Messages with a signature are put together on the host. */
HA_IN_ int ha_mpi_takes(const ha_context *c) {
    const ha_mpi_said said = ha_mpi_user_says();
    if (!c || ha_is_host(c)) return 0;
    if (said >= HA_MPI_NO_ || ha_mpi_seconds() || !ha_mpi_has_addresses(c)) return 0;
    return said == HA_MPI_YES_ ||
           (!strcmp(ha_context_kind(c), "cuda") && ha_mpi_library_takes_cuda());
}

/* Whether it might take any: where it does not, nobody looks where values are. */
HA_IN_ int ha_mpi_may_take(void) {
    const ha_mpi_said said = ha_mpi_user_says();
    return said == HA_MPI_YES_ || (said < HA_MPI_NO_ && ha_mpi_library_takes_cuda());
}

const char *ha_mpi_describe(ha_context *context) {
    const ha_context *c = ha_resolve(context);
    if (ha_is_host(c)) return "in place or packed: it is the host";
    if (!ha_mpi_has_addresses(c)) return "staged: memory of this kind has no addresses for MPI";
    if (ha_mpi_seconds()) return "staged: HARRAY_MPI_CHECK is set";
    if (ha_mpi_user_says() == HA_MPI_NO_) return "staged: HARRAY_MPI_GPU says no";
    if (ha_mpi_user_says() == HA_MPI_UNCLEAR_)
        return "staged: HARRAY_MPI_GPU is neither yes nor no";
    if (ha_mpi_user_says() == HA_MPI_YES_) return "direct: HARRAY_MPI_GPU says yes";
    if (strcmp(ha_context_kind(c), "cuda")) return "staged: MPI is not known to take this kind";
    if (!ha_mpi_is_there()) return "staged: MPI_Init was not called, or MPI_Finalize was";
    return ha_mpi_library_takes_cuda() ? "direct: the MPI library says that it takes CUDA's memory"
                                       : "staged: the MPI library does not say that it takes "
                                         "CUDA's memory";
}

#endif
