/* What a rank says of its side of a message or a collective when HARRAY_MPI_CHECK is set, and how two of these are
 * compared. */
#ifndef HARRAY_IMPL_MPI_SIGNATURE_H
#define HARRAY_IMPL_MPI_SIGNATURE_H

#include "side.h"

static const char ha_mpi_magic[8] = "harray1";

/* Travels as bytes: the ranks run the same program. */
typedef struct ha_mpi_signature {
    char magic[8];
    char operation[24], type[32], site[96], detail[32]; /* detail: the operation of a reduction */
    uint64_t element; /* bytes of one; of fields what stands for their types */
    int64_t count;
    int64_t
        share; /* of each rank, as the root says; -1: it does not say, or that is not the same for all */
    int64_t extent[HA_MOST_RANK];
    int32_t rank, root, status;
} ha_mpi_signature;

HA_IN_ void ha_mpi_sign_extents(ha_mpi_signature *sign, const darray *view) {
    for (int d = 0; d < view->rank; d++)
        if (view->extent[d] != 1) sign->extent[sign->rank++] = view->extent[d];
}

HA_IN_ void ha_mpi_sign(ha_mpi_signature *sign, const ha_mpi_side *side, const ha_mpi_call *call) {
    memset(sign, 0, sizeof *sign);
    memcpy(sign->magic, ha_mpi_magic, sizeof sign->magic);
    snprintf(sign->operation, sizeof sign->operation, "%s", call->operation);
    snprintf(sign->site, sizeof sign->site, "%s", call->site);
    sign->root = -1;
    sign->share = -1;
    if (!side) return;
    snprintf(sign->type, sizeof sign->type, "%s", side->type.name);
    sign->element = side->part.records ? side->digest : side->type.size;
    sign->count = side->count;
    if (!side->part.records) ha_mpi_sign_extents(sign, &side->part.view);
}

/* What has come by a message may be anything: its texts end, and its rank is one. */
HA_IN_ void ha_mpi_make_sound(ha_mpi_signature *sign) {
    sign->operation[sizeof sign->operation - 1] = sign->type[sizeof sign->type - 1] = 0;
    sign->site[sizeof sign->site - 1] = sign->detail[sizeof sign->detail - 1] = 0;
    if (sign->rank < 0 || sign->rank > HA_MOST_RANK) sign->rank = 0;
}

/* Nonzero: both mean elements of the same type. */
HA_IN_ int ha_mpi_types_agree(const ha_mpi_signature *x, const ha_mpi_signature *y) {
    return x->element == y->element && !strcmp(x->type, y->type);
}

/* And as many of them, in the same order. */
HA_IN_ int ha_mpi_shapes_agree(const ha_mpi_signature *x, const ha_mpi_signature *y) {
    return ha_mpi_types_agree(x, y) && x->count == y->count && x->rank == y->rank &&
           !memcmp(x->extent, y->extent, sizeof x->extent);
}

/* "double (3, 4)", without extents of 1. */
typedef struct ha_mpi_shown {
    char text[160];
} ha_mpi_shown;
HA_IN_ ha_mpi_shown ha_mpi_show(const ha_mpi_signature *sign) {
    ha_mpi_shown shown;
    ha_text t = ha_text_into(shown.text, sizeof shown.text);
    ha_print(&t, "%lld of %s (%s)", (long long)sign->count, sign->type,
             ha_show(sign->rank, sign->extent).text);
    return shown;
}

#endif
