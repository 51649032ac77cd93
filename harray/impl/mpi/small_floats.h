/* Sums, products and extremes of half and bfloat16, which MPI does not know: in float, rounded once. */
#ifndef HARRAY_IMPL_MPI_SMALL_FLOATS_H
#define HARRAY_IMPL_MPI_SMALL_FLOATS_H

#include "requests.h"

#define HA_MPI_SUM_(x, y) ((x) + (y))
#define HA_MPI_PROD_(x, y) ((x) * (y))
#define HA_MPI_MIN_(x, y) ((x) < (y) ? (x) : (y))
#define HA_MPI_MAX_(x, y) ((x) > (y) ? (x) : (y))

/* Of elements that MPI takes for 16 bits. */
#define HA_MPI_SMALL_(T, op)                                                                       \
    HA_IN_ void ha_mpi_##T##_##op(void *given, void *result, int *count, MPI_Datatype *type) {     \
        const ha_##T *x = (const ha_##T *)given;                                                   \
        ha_##T *y = (ha_##T *)result;                                                              \
        (void)type;                                                                                \
        for (int i = 0; i < *count; i++) {                                                         \
            const float a = ha_##T##_to_float(x[i]), b = ha_##T##_to_float(y[i]);                  \
            y[i] = ha_##T##_of_float(HA_MPI_##op##_(a, b));                                        \
        }                                                                                          \
    }
HA_MPI_SMALL_(half, SUM)
HA_MPI_SMALL_(half, PROD)
HA_MPI_SMALL_(half, MIN)
HA_MPI_SMALL_(half, MAX)
HA_MPI_SMALL_(bfloat16, SUM)
HA_MPI_SMALL_(bfloat16, PROD)
HA_MPI_SMALL_(bfloat16, MIN)
HA_MPI_SMALL_(bfloat16, MAX)
#undef HA_MPI_SMALL_

HA_IN_ int ha_mpi_is_small_float(ha_dtype type) {
    return type == HA_DTYPE_half || type == HA_DTYPE_bfloat16;
}

/* NULL: it is none of these. */
HA_IN_ MPI_User_function *ha_mpi_small_function(ha_dtype type, MPI_Op op) {
    const int is_half = type == HA_DTYPE_half;
    if (op == MPI_SUM) return is_half ? ha_mpi_half_SUM : ha_mpi_bfloat16_SUM;
    if (op == MPI_PROD) return is_half ? ha_mpi_half_PROD : ha_mpi_bfloat16_PROD;
    if (op == MPI_MIN) return is_half ? ha_mpi_half_MIN : ha_mpi_bfloat16_MIN;
    if (op == MPI_MAX) return is_half ? ha_mpi_half_MAX : ha_mpi_bfloat16_MAX;
    return NULL;
}

#endif
