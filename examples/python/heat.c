/* A solver in C that Python calls: heat spreads on a plate. It gets arrays of Python's as darrays, and opens them as any C
 * program would; so it is linked with the library that Python uses, and does not contain one of its own. */
#include "harray_kernels.h"

HA_KERNEL(relax, ((value, double, k), (in, array_double_2, u), (inout, array_double_2, w)), (j, i),
          {
              HA_AT(w, j, i) = HA_AT(u, j, i) +
                               k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) + HA_AT(u, j, i - 1) +
                                    HA_AT(u, j, i + 1) - 4 * HA_AT(u, j, i));
          });

/* Twice `pairs` steps at a context, from u to w and back; the edge stays as it is. NULL, or what was wrong. */
const char *heat(const darray *u, const darray *w, const char *where, double k, int pairs);

const char *heat(const darray *u, const darray *w, const char *where, double k, int pairs) {
    static _Thread_local ha_error error;
    const array_double_2 a = array_double_2_from_darray(*u), b = array_double_2_from_darray(*w);
    ha_context *context = ha_context_find(where);
    ha_status status = context && a.array && b.array ? HA_OK : HA_ERR_ARGUMENT;
    const ha_region inside = ha_box2(1, u->extent[0] - 1, 1, u->extent[1] - 1);
    for (int n = 0; n < pairs && !status; n++) {
        status = relax_in(context, inside, k, a, b);
        if (!status) status = relax_in(context, inside, k, b, a);
    }
    error = ha_take_error();
    return status ? error.text : NULL;
}
