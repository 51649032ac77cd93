/* What is asked of MPI itself: whether it may be called, which of its types an element is, and what its errors are
 * here. */
#ifndef HARRAY_IMPL_MPI_LIBRARY_H
#define HARRAY_IMPL_MPI_LIBRARY_H

#include "../../mpi.h"
#include "../ndarray/all.h"
#include "../records/all.h"

/* As many elements MPI takes in one number; tests have less. */
#ifndef HA_MPI_MOST_COUNT_
#define HA_MPI_MOST_COUNT_ INT_MAX
#endif

/* A call of the user's. */
typedef struct ha_mpi_call {
    const char *operation, *site;
    MPI_Comm comm;
} ha_mpi_call;

/* ---- errors --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_status_of(int class) {
    if (class == MPI_ERR_TRUNCATE) return HA_ERR_ARGUMENT;
    return class == MPI_ERR_NO_MEM ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

HA_NOINLINE_ HA_IN_ ha_status ha_mpi_tell(const ha_mpi_call *call, int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0, class = MPI_ERR_OTHER;
    (void)MPI_Error_string(code, text, &length);
    (void)MPI_Error_class(code, &class);
    ha_backend_report(code, text);
    return ha_fail(ha_mpi_status_of(class), call->operation, "%s: %s failed", call->site, what);
}

/* HA_OK for MPI_SUCCESS. */
HA_IN_ ha_status ha_mpi_told(const ha_mpi_call *call, int code, const char *what) {
    return code == MPI_SUCCESS ? HA_OK : ha_mpi_tell(call, code, what);
}

__attribute__((format(printf, 3, 4))) HA_IN_ ha_status ha_mpi_fail(ha_status s,
                                                                   const ha_mpi_call *call,
                                                                   const char *format, ...) {
    char reason[300];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return ha_fail(s, call->operation, "%s: %s", call->site, reason);
}

/* ---- may it be called? ------------------------------------------------------------------------ */

/* Nonzero between MPI_Init and MPI_Finalize. Both happen once in a process. */
HA_IN_ int ha_mpi_is_there(void) {
    static int has_begun;
    int begun = __atomic_load_n(&has_begun, __ATOMIC_RELAXED), over = 0;
    if (!begun) {
        if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun) return 0;
        __atomic_store_n(&has_begun, 1, __ATOMIC_RELAXED);
    }
    return MPI_Finalized(&over) == MPI_SUCCESS && !over;
}

/* Whether this thread may call. MPI is there. What it says of a thread does not change. */
HA_IN_ int ha_mpi_may_call(void) {
    static _Thread_local int may_call;
    int level = MPI_THREAD_SINGLE, is_main = 1;
    if (may_call) return 1;
    (void)MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) (void)MPI_Is_thread_main(&is_main);
    return may_call = is_main;
}

HA_IN_ ha_status ha_mpi_enter(const ha_mpi_call *call) {
    ha_status s = ha_enter(call->operation);
    if (s) return s;
    if (!ha_mpi_is_there())
        return ha_mpi_fail(HA_ERR_STATE, call,
                           "MPI is not there: MPI_Init was not called, or MPI_Finalize was");
    if (call->comm == MPI_COMM_NULL)
        return ha_mpi_fail(HA_ERR_ARGUMENT, call, "no communicator (MPI_COMM_NULL)");
    if (ha_mpi_may_call()) return HA_OK;
    return ha_mpi_fail(HA_ERR_STATE, call,
                       "MPI was initialised to be called by the main thread only, and this is "
                       "another one");
}

/* from_any: MPI_ANY_SOURCE is one, too. */
HA_IN_ ha_status ha_mpi_check_rank(const ha_mpi_call *call, int rank, int from_any) {
    int size = 0;
    if (rank == MPI_PROC_NULL || (from_any && rank == MPI_ANY_SOURCE)) return HA_OK;
    ha_status s = ha_mpi_told(call, MPI_Comm_size(call->comm, &size), "MPI_Comm_size");
    if (s || (rank >= 0 && rank < size)) return s;
    return ha_mpi_fail(HA_ERR_ARGUMENT, call, "there is no rank %d among %d", rank, size);
}

/* Those up to 32767 are always good. */
HA_IN_ ha_status ha_mpi_check_tag(const ha_mpi_call *call, int tag, int may_be_any) {
    int *most = NULL, found = 0;
    if ((tag >= 0 && tag <= 32767) || (may_be_any && tag == MPI_ANY_TAG)) return HA_OK;
    (void)MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&most, &found);
    if (tag >= 0 && found && tag <= *most) return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, call, "%d is no tag: they are 0 to %d", tag,
                       found ? *most : 32767);
}

/* With HARRAY_MPI_CHECK: for so many seconds one waits for others; 0: nothing is checked. */
HA_IN_ int ha_mpi_seconds(void) {
    static int seconds; /* plus 1; 0: not read yet */
    int known = __atomic_load_n(&seconds, __ATOMIC_RELAXED);
    if (!known) {
        const char *text = getenv("HARRAY_MPI_CHECK");
        const long n = text ? strtol(text, NULL, 10) : 0;
        known = (n < 0 ? 0 : n > 1000000 ? 1000000 : (int)n) + 1;
        __atomic_store_n(&seconds, known, __ATOMIC_RELAXED);
    }
    return known - 1;
}

/* ---- elements --------------------------------------------------------------------------------- */

/* MPI_BYTE: it has no such type. */
HA_IN_ MPI_Datatype ha_mpi_type_of(ha_dtype type) {
    switch (type) {
    case HA_DTYPE_int8_t:
        return MPI_INT8_T;
    case HA_DTYPE_int16_t:
        return MPI_INT16_T;
    case HA_DTYPE_int32_t:
        return MPI_INT32_T;
    case HA_DTYPE_int64_t:
        return MPI_INT64_T;
    case HA_DTYPE_uint8_t:
        return MPI_UINT8_T;
    case HA_DTYPE_uint16_t:
    case HA_DTYPE_half:
    case HA_DTYPE_bfloat16:
        return MPI_UINT16_T;
    case HA_DTYPE_uint32_t:
        return MPI_UINT32_T;
    case HA_DTYPE_uint64_t:
        return MPI_UINT64_T;
    case HA_DTYPE_float:
        return MPI_FLOAT;
    case HA_DTYPE_double:
        return MPI_DOUBLE;
    case HA_DTYPE_c64:
        return MPI_C_FLOAT_COMPLEX;
    case HA_DTYPE_c128:
        return MPI_C_DOUBLE_COMPLEX;
    case HA_DTYPE_bool:
        return MPI_C_BOOL;
    default:
        return MPI_BYTE;
    }
}

/* A number of elements as MPI takes it: its numbers are ints. Both sides of a message make the same of it. */
typedef struct ha_mpi_count {
    MPI_Datatype type;
    int number;
    int is_made; /* the type is to be freed */
} ha_mpi_count;

/* Blocks of HA_MPI_MOST_COUNT_ elements, and a rest. */
HA_IN_ int ha_mpi_count_blocks(ha_mpi_count *count, int64_t n, MPI_Datatype base) {
    const int64_t most = HA_MPI_MOST_COUNT_;
    MPI_Aint low, size;
    MPI_Datatype block, of[2];
    int wrong = MPI_Type_contiguous((int)most, base, &block);
    if (wrong) return wrong;
    const int length[2] = {(int)(n / most), (int)(n % most)};
    (void)MPI_Type_get_extent(block, &low, &size);
    const MPI_Aint at[2] = {0, size * length[0]};
    of[0] = block;
    of[1] = base;
    wrong = MPI_Type_create_struct(2, length, at, of, &count->type);
    (void)MPI_Type_free(&block);
    if (wrong) return wrong;
    count->number = 1;
    count->is_made = 1;
    return MPI_Type_commit(&count->type);
}

/* Returns MPI's code. */
HA_IN_ int ha_mpi_count_plainly(ha_mpi_count *count, int64_t n, MPI_Datatype base) {
    *count = (ha_mpi_count){.type = base};
    if (n > HA_MPI_MOST_COUNT_) return ha_mpi_count_blocks(count, n, base);
    count->number = (int)n;
    return MPI_SUCCESS;
}

HA_IN_ ha_status ha_mpi_count_of(ha_mpi_count *count, int64_t n, MPI_Datatype base,
                                 const ha_mpi_call *call) {
    return ha_mpi_told(call, ha_mpi_count_plainly(count, n, base), "making a type");
}

HA_IN_ void ha_mpi_count_end(ha_mpi_count *count) {
    if (count->is_made) (void)MPI_Type_free(&count->type);
    count->is_made = 0;
}

/* ---- what was moved ---------------------------------------------------------------------------- */

HA_STATE_ ha_mpi_traffic ha_mpi_moved;

#define HA_MPI_MOVED_(member, n)                                                                   \
    do {                                                                                           \
        const uint64_t n_ = (uint64_t)(n);                                                         \
        if (n_) (void)__atomic_add_fetch(&ha_mpi_moved.member, n_, __ATOMIC_RELAXED);              \
    } while (0)

ha_mpi_traffic ha_mpi_traffic_so_far(void) {
    ha_mpi_traffic t;
    t.messages_sent = __atomic_load_n(&ha_mpi_moved.messages_sent, __ATOMIC_RELAXED);
    t.messages_received = __atomic_load_n(&ha_mpi_moved.messages_received, __ATOMIC_RELAXED);
    t.bytes_sent = __atomic_load_n(&ha_mpi_moved.bytes_sent, __ATOMIC_RELAXED);
    t.bytes_received = __atomic_load_n(&ha_mpi_moved.bytes_received, __ATOMIC_RELAXED);
    t.packed_bytes = __atomic_load_n(&ha_mpi_moved.packed_bytes, __ATOMIC_RELAXED);
    t.staged_bytes = __atomic_load_n(&ha_mpi_moved.staged_bytes, __ATOMIC_RELAXED);
    return t;
}

#endif
