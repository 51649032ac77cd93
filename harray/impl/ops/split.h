/* Views split in those dimensions along which an operation goes, the lane, and the others, by which lanes are told apart. */
#ifndef HARRAY_IMPL_OPS_SPLIT_H
#define HARRAY_IMPL_OPS_SPLIT_H

#include "indices.h"
#include "../../scan.h"

/* ---- what is refused ----------------------------------------------------------------------------- */

HA_IN_ ha_status ha_split_check_dimension(ha_named_view x, int dimension, const char *operation) {
    const ha_status s = ha_named_view_check(x, operation);
    if (s || (dimension >= 0 && dimension < x.view->rank)) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, x, "it has no dimension %d", dimension);
}

/* ---- views --------------------------------------------------------------------------------------- */

/* Without one of its dimensions, at its first index. */
HA_IN_ darray ha_split_without(const darray *x, int dimension) {
    darray y = *x;
    y.rank--;
    for (int d = dimension; d < y.rank; d++) {
        y.extent[d] = x->extent[d + 1];
        y.stride[d] = x->stride[d + 1];
        y.origin[d] = x->origin[d + 1];
    }
    y.extent[y.rank] = y.stride[y.rank] = y.origin[y.rank] = 0;
    return y;
}

/* Of a row of elements, which are numbers of `type`, n from first on: how many follow each other in the last dimension, and
 * how far the first of them is from the first of all. */
HA_IN_ int64_t ha_split_piece(const int64_t *extent, const int64_t *stride, int rank, int64_t first,
                              int64_t n, int64_t *place) {
    const int64_t width = extent[rank - 1], left = rank > 1 ? width - first % width : n;
    *place = ha_strided_place_(extent, stride, rank, first);
    return left < n ? left : n;
}

/* ---- numbers in between -------------------------------------------------------------------------- */

/* n elements, as what is computed with; and back. */
HA_IN_ void ha_split_load(const ha_op_type *type, void *to, const char *from, int64_t n,
                          int64_t step) {
    const int64_t bytes = (int64_t)ha_dtype_size(type->type), one = 1;
    if (type->type != type->number)
        ha_op_load(type->type, (float *)to, from, n, step);
    else if (step == 1)
        memcpy(to, from, (size_t)(n * bytes));
    else
        ha_copy_strided(1, &n, to, &one, from, &step, (size_t)bytes);
}

HA_IN_ void ha_split_store(const ha_op_type *type, char *to, const void *from, int64_t n,
                           int64_t step) {
    const int64_t bytes = (int64_t)ha_dtype_size(type->type), one = 1;
    if (type->type == type->number && step == 1)
        memcpy(to, from, (size_t)(n * bytes));
    else if (type->type == type->number)
        ha_copy_strided(1, &n, to, &step, from, &one, (size_t)bytes);
    else
        for (int64_t i = 0, m; i < n; i += m) {
            m = n - i < HA_OP_CHUNK ? n - i : HA_OP_CHUNK;
            ha_op_store(type->type, to + i * step * bytes, (const float *)from + i, m, step);
        }
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* x.data[ha_strided_place_(x.extent, x.stride, 2, k) + …(x.extent + 2, x.stride + 2, 3, n)] */
HA_IN_ void ha_split_put_element(ha_text *t, const char *name, int along, int others) {
    ha_print(t, "%s.data[", name);
    if (along) ha_print(t, "ha_strided_place_(%s.extent, %s.stride, %d, k)", name, name, along);
    if (others)
        ha_print(t, "%sha_strided_place_(%s.extent + %d, %s.stride + %d, %d, n)",
                 along ? " + " : "", name, along, name, along, others);
    ha_print(t, "]");
}

/* const float v = ha_half_to_float(x.data[…]); */
HA_IN_ void ha_split_put_variable(ha_text *t, const ha_op_type *type, const char *variable,
                                  const char *name, int along, int others) {
    const int as_float = type->type != type->number;
    ha_print(t, "const %s %s = ", type->computed, variable);
    if (as_float) ha_print(t, "ha_%s_to_float(", type->element);
    ha_split_put_element(t, name, along, others);
    ha_print(t, as_float ? "); " : "; ");
}

#endif
