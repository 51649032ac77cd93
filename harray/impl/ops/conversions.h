/* Numbers of any two types as text for devices: one as the other, and whether it has a place there; as ha_convert says of them,
 * in the same bits, but for those of a signalling NaN. */
#ifndef HARRAY_IMPL_OPS_CONVERSIONS_H
#define HARRAY_IMPL_OPS_CONVERSIONS_H

#include "records_values.h"

/* ---- elements ------------------------------------------------------------------------------------ */

HA_IN_ int ha_type_is_complex(ha_dtype type) { return ha_dtype_kind(type) == HA_KIND_COMPLEX; }

/* The type of variables that have the values of this one: half and bfloat16 are read as float, truth values as 1 and 0. */
HA_IN_ ha_dtype ha_type_as_read(ha_dtype type) {
    return ha_value_small(type) ? HA_DTYPE_float : type == HA_DTYPE_bool ? HA_DTYPE_uint8_t : type;
}

/* Such a variable's parts, which are itself where it is real. */
HA_IN_ ha_dtype ha_type_of_parts(ha_dtype type) {
    return ha_type_is_complex(type) ? ha_type_of_part(type) : ha_type_as_read(type);
}

/* The n-th array's element: const float u = ha_half_to_float(HA_AT(x, i)); */
HA_IN_ void ha_put_read(ha_text *t, const ha_op_key *key, int n, ha_dtype type, const char *name) {
    const char *small = ha_value_small(type);
    ha_print(t, "const %s %s = ", ha_device_word(ha_type_as_read(type)), name);
    if (small) ha_print(t, "ha_%s_to_float(", small);
    ha_op_put_element(t, key, n);
    ha_print(t, "%s; ", small ? ")" : type == HA_DTYPE_bool ? " ? 1 : 0" : "");
}

/* ---- one as the other ---------------------------------------------------------------------------- */

/* u, which is real. Integers that float has exactly need no double to become half or bfloat16. */
HA_IN_ void ha_put_real_as(ha_text *t, ha_dtype to, ha_dtype from, const char *u,
                           ha_value_needs *needs) {
    const char *small = ha_value_small(to);
    if (small && ha_dtype_size(from) <= 2)
        ha_print(t, "ha_%s_of_float((float)%s)", small, u);
    else
        ha_value_put_assigned(t, to, from, u, needs);
}

/* What has no place there becomes the nearest number that has one: it has been looked for before. */
HA_IN_ void ha_put_as(ha_text *t, ha_dtype to, ha_dtype from, ha_value_needs *needs) {
    const int is_complex = ha_type_is_complex(from);
    const ha_dtype part = ha_type_of_parts(from);
    const char *re = is_complex ? "u.re" : "u";
    if (ha_type_is_complex(to)) {
        ha_print(t, "ha_%s_make(", ha_dtype_name(to));
        ha_put_real_as(t, ha_type_of_part(to), part, re, needs);
        ha_print(t, ", ");
        if (is_complex)
            ha_put_real_as(t, ha_type_of_part(to), part, "u.im", needs);
        else
            ha_print(t, "0");
        ha_print(t, ")");
    } else if (is_complex && to == HA_DTYPE_bool) {
        ha_print(t, "u.re != 0 || u.im != 0");
    } else {
        ha_put_real_as(t, to, part, re, needs);
    }
}

/* ---- has it a place there? ----------------------------------------------------------------------- */

/* Integers become others only if they are these; real numbers the nearest one. */
HA_IN_ void ha_put_no_integer(ha_text *t, ha_dtype to, ha_dtype from, const char *u) {
    const int bits = 8 * (int)ha_dtype_size(to), is_signed = ha_value_has_sign(to);
    const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    if (ha_value_is_real(from))
        ha_print(t, "!(rint((double)%s) >= -%llu.0 && rint((double)%s) < %llu.0 * 2)", u,
                 is_signed ? most + 1ull : 0, u, most / 2 + 1ull);
    else if (ha_value_has_sign(from) && is_signed)
        ha_print(t, "(int64_t)%s < %lld || (int64_t)%s > %lld", u, -(long long)most - 1, u,
                 (long long)most);
    else
        ha_print(t, "%s%s%s(uint64_t)%s > %lluu", ha_value_has_sign(from) ? u : "",
                 ha_value_has_sign(from) ? " < 0" : "", ha_value_has_sign(from) ? " || " : "", u,
                 (unsigned long long)most);
}

/* Of types that may misfit (ha_scalars_may_misfit). */
HA_IN_ void ha_put_misfits(ha_text *t, ha_dtype to, ha_dtype from) {
    const int is_complex = ha_type_is_complex(from), is_whole = ha_is_whole_number(to);
    if (is_complex) ha_print(t, "!(u.im == 0)%s", is_whole ? " || " : "");
    if (is_whole) ha_put_no_integer(t, to, ha_type_of_parts(from), is_complex ? "u.re" : "u");
}

#endif
