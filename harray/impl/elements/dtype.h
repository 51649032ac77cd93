/* Element types that are known at run time only, and values of them. */
#ifndef HARRAY_IMPL_ELEMENTS_DTYPE_H
#define HARRAY_IMPL_ELEMENTS_DTYPE_H

#include "../../dtype.h"
#include "../base/all.h"

/* ---- types ---------------------------------------------------------------------------------- */

ha_type ha_dtype_to_type(ha_dtype type) {
    return ha_type_of_(ha_dtype_name(type), ha_dtype_size(type));
}

/* HA_DTYPE_NONE: there is none. Each argument of an operation is looked up here: by its first letter, before a name is
 * compared. */
HA_IN_ ha_dtype ha_dtype_named(const char *name) {
    static const struct {
        const char *name;
        ha_dtype type;
    } names[] = {
#define HA_DTYPE_NAME_(name, T, kind, text) {#name, HA_DTYPE_##name},
        HA_DTYPES(HA_DTYPE_NAME_)
#undef HA_DTYPE_NAME_
            {"int", sizeof(int) == 8 ? HA_DTYPE_int64_t : HA_DTYPE_int32_t},
    };
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (*name == *names[i].name && !strcmp(name, names[i].name)) return names[i].type;
    return HA_DTYPE_NONE;
}

/* As NumPy calls it. Types of the user's own that have such a name are something else: so only who
 * asks for a name gets these. */
HA_IN_ ha_dtype ha_dtype_named_by_numpy(const char *name) {
    static const struct {
        const char *name;
        ha_dtype type;
    } names[] = {
        {"float16", HA_DTYPE_half},    {"float32", HA_DTYPE_float},   {"float64", HA_DTYPE_double},
        {"int8", HA_DTYPE_int8_t},     {"int16", HA_DTYPE_int16_t},   {"int32", HA_DTYPE_int32_t},
        {"int64", HA_DTYPE_int64_t},   {"uint8", HA_DTYPE_uint8_t},   {"uint16", HA_DTYPE_uint16_t},
        {"uint32", HA_DTYPE_uint32_t}, {"uint64", HA_DTYPE_uint64_t}, {"complex64", HA_DTYPE_c64},
        {"complex128", HA_DTYPE_c128},
    };
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) return names[i].type;
    return HA_DTYPE_NONE;
}

ha_status ha_dtype_find(const char *name, ha_dtype *type) {
    ha_dtype found = ha_dtype_named(name);
    if (!found) found = ha_dtype_named_by_numpy(name);
    if (!type) return ha_fail(HA_ERR_ARGUMENT, "ha_dtype_find", "no place for the type");
    if (!found)
        return ha_fail(HA_ERR_NOT_FOUND, "ha_dtype_find",
                       "no element type is called '%.40s': there are"
#define HA_DTYPE_LISTED_(name, T, kind, text) " " #name
                       HA_NUMBER_DTYPES(HA_DTYPE_LISTED_) " bool, and NumPy's names of these",
#undef HA_DTYPE_LISTED_
                       name ? name : "(null)");
    *type = found;
    return HA_OK;
}

/* Of a type of an array; HA_DTYPE_NONE where it is the user's own. */
HA_IN_ ha_dtype ha_dtype_quietly(ha_type type) {
    ha_dtype dtype = ha_dtype_named(type.name);
    return ha_dtype_size(dtype) == type.size ? dtype : HA_DTYPE_NONE;
}

ha_status ha_dtype_of_type(ha_type type, ha_dtype *dtype) {
    ha_dtype found = ha_dtype_quietly(type);
    if (!dtype) return ha_fail(HA_ERR_ARGUMENT, "ha_dtype_of_type", "no place for the type");
    if (!found)
        return ha_fail(HA_ERR_NOT_FOUND, "ha_dtype_of_type",
                       "'%.40s' of %zu bytes is none of the element types known at run time",
                       type.name ? type.name : "(null)", type.size);
    *dtype = found;
    return HA_OK;
}

/* ---- every value, in one form --------------------------------------------------------------- */

__extension__ typedef __int128 ha_int128;

/* Exactly, what any of the types can hold. */
typedef struct ha_wide {
    int is_integer;
    ha_int128 integer; /* when it is one */
    double re, im;     /* when it is none */
} ha_wide;

HA_IN_ ha_wide ha_wide_integer(ha_int128 integer) {
    return (ha_wide){.is_integer = 1, .integer = integer};
}

HA_IN_ ha_wide ha_wide_real(double re) { return (ha_wide){.re = re}; }

HA_IN_ ha_wide ha_widen(const ha_dvalue *v) {
    switch (v->type) {
    case HA_DTYPE_half:
        return ha_wide_real(ha_half_to_double(v->as_half));
    case HA_DTYPE_bfloat16:
        return ha_wide_real(ha_bfloat16_to_double(v->as_bfloat16));
    case HA_DTYPE_float:
        return ha_wide_real((double)v->as_float);
    case HA_DTYPE_double:
        return ha_wide_real(v->as_double);
    case HA_DTYPE_int8_t:
        return ha_wide_integer(v->as_int8_t);
    case HA_DTYPE_int16_t:
        return ha_wide_integer(v->as_int16_t);
    case HA_DTYPE_int32_t:
        return ha_wide_integer(v->as_int32_t);
    case HA_DTYPE_int64_t:
        return ha_wide_integer(v->as_int64_t);
    case HA_DTYPE_uint8_t:
        return ha_wide_integer(v->as_uint8_t);
    case HA_DTYPE_uint16_t:
        return ha_wide_integer(v->as_uint16_t);
    case HA_DTYPE_uint32_t:
        return ha_wide_integer(v->as_uint32_t);
    case HA_DTYPE_uint64_t:
        return ha_wide_integer(v->as_uint64_t);
    case HA_DTYPE_bool:
        return ha_wide_integer(v->as_bool != 0);
    case HA_DTYPE_c64:
        return (ha_wide){.re = (double)v->as_c64.re, .im = (double)v->as_c64.im};
    case HA_DTYPE_c128:
        return (ha_wide){.re = v->as_c128.re, .im = v->as_c128.im};
    case HA_DTYPE_NONE:
        break;
    }
    return ha_wide_real(__builtin_nan(""));
}

/* What has an imaginary part; a NaN is one. */
HA_IN_ int ha_is_imaginary(const ha_wide *w) { return !w->is_integer && !(w->im == 0); }

/* ---- conversions ---------------------------------------------------------------------------- */

static const double ha_2_to_64 = 0x1p64;

/* Of |x| < 2^64, to the nearest, of two equally near ones to the even. */
HA_IN_ ha_int128 ha_round_to_integer(double x) {
    ha_int128 below = (ha_int128)x;                              /* towards 0 */
    double rest = x < 0 ? (double)below - x : x - (double)below; /* exact */
    int away = rest > 0.5 || (rest == 0.5 && (below & 1));
    return below + (x < 0 ? -away : away);
}

/* An integer of up to 64 bits with only so many of its upper binary digits, rounded; it fits a
 * double, which has 53. */
HA_IN_ double ha_round_to_digits(ha_int128 integer, int digits) {
    uint64_t magnitude = (uint64_t)(integer < 0 ? -integer : integer);
    int surplus = magnitude ? 64 - __builtin_clzll(magnitude) - digits : 0;
    double x = (double)magnitude; /* exact where there is no surplus */
    if (surplus > 0)
        x = (double)ha_round_shift_(magnitude, (uint32_t)surplus) *
            (double)((uint64_t)1 << surplus);
    return integer < 0 ? -x : x;
}

/* Rounded, if it is an integer, to what a real type with so many digits can hold. */
HA_IN_ double ha_wide_to_real(const ha_wide *w, int digits) {
    return w->is_integer ? ha_round_to_digits(w->integer, digits) : w->re;
}

/* Returns whether there is such an integer. */
HA_IN_ int ha_wide_to_integer(const ha_wide *w, size_t size, ha_number_kind kind,
                              ha_int128 *integer) {
    int bits = (int)(8 * size), is_signed = kind == HA_KIND_SIGNED;
    ha_int128 end = (ha_int128)1 << (is_signed ? bits - 1 : bits), first = is_signed ? -end : 0;
    if (w->is_integer)
        *integer = w->integer;
    else if (w->re > -ha_2_to_64 && w->re < ha_2_to_64)
        *integer = ha_round_to_integer(w->re);
    else
        return 0; /* also NaN */
    return *integer >= first && *integer < end;
}

/* Of an integer that fits: its lower bytes. */
HA_IN_ void ha_put_integer(ha_int128 integer, ha_dvalue *v) {
    switch (ha_dtype_size(v->type)) {
    case 1:
        v->as_uint8_t = (uint8_t)integer;
        break;
    case 2:
        v->as_uint16_t = (uint16_t)integer;
        break;
    case 4:
        v->as_uint32_t = (uint32_t)integer;
        break;
    default:
        v->as_uint64_t = (uint64_t)integer;
    }
}

HA_IN_ void ha_put_real(const ha_wide *w, ha_dvalue *v) {
    if (v->type == HA_DTYPE_half)
        v->as_half = ha_half_of_double(ha_wide_to_real(w, 11));
    else if (v->type == HA_DTYPE_bfloat16)
        v->as_bfloat16 = ha_bfloat16_of_double(ha_wide_to_real(w, 8));
    else if (v->type == HA_DTYPE_float)
        v->as_float = (float)ha_wide_to_real(w, 24);
    else
        v->as_double = ha_wide_to_real(w, 53);
}

HA_IN_ void ha_put_complex(const ha_wide *w, ha_dvalue *v) {
    double im = w->is_integer ? 0 : w->im;
    if (v->type == HA_DTYPE_c64)
        v->as_c64 = ha_c64_make((float)ha_wide_to_real(w, 24), (float)im);
    else
        v->as_c128 = ha_c128_make(ha_wide_to_real(w, 53), im);
}

/* NULL, or what is wrong. */
HA_IN_ const char *ha_put(const ha_wide *w, ha_dvalue *v) {
    const ha_number_kind kind = ha_dtype_kind(v->type);
    ha_int128 integer;
    if (kind == HA_KIND_COMPLEX) {
        ha_put_complex(w, v);
    } else if (kind == HA_KIND_BOOL) {
        v->as_bool = w->is_integer ? w->integer != 0 : !(w->re == 0 && w->im == 0);
    } else if (ha_is_imaginary(w)) {
        return "has an imaginary part that would get lost";
    } else if (kind == HA_KIND_REAL) {
        ha_put_real(w, v);
    } else {
        if (!ha_wide_to_integer(w, ha_dtype_size(v->type), kind, &integer)) return "does not fit";
        ha_put_integer(integer, v);
    }
    return NULL;
}

/* NULL; or what is wrong, and *result stays. */
HA_IN_ const char *ha_convert_or_object(const ha_dvalue *value, ha_dtype type, ha_dvalue *result) {
    ha_dvalue v;
    if (!ha_dtype_size(value->type) || !ha_dtype_size(type)) return "there is no such type";
    if (value->type == type && type != HA_DTYPE_bool) {
        *result = *value; /* all bits of a NaN */
        return NULL;
    }
    memset(&v, 0, sizeof v);
    v.type = type;
    const ha_wide w = ha_widen(value);
    const char *objection = ha_put(&w, &v);
    if (!objection) *result = v;
    return objection;
}

/* A value that has no place, for a message: "300 (int32_t) as uint8_t"; or "from type 77 to type 1". */
typedef struct ha_unconverted {
    char text[120];
} ha_unconverted;
HA_IN_ ha_unconverted ha_show_unconverted(const ha_dvalue *value, ha_dtype type) {
    ha_unconverted shown;
    char text[80];
    if (!ha_dtype_size(value->type) || !ha_dtype_size(type)) {
        snprintf(shown.text, sizeof shown.text, "from type %d to type %d", (int)value->type,
                 (int)type);
    } else {
        ha_dvalue_print(*value, text, sizeof text);
        snprintf(shown.text, sizeof shown.text, "%s (%s) as %s", text, ha_dtype_name(value->type),
                 ha_dtype_name(type));
    }
    return shown;
}

HA_IN_ ha_status ha_convert(const ha_dvalue *value, ha_dtype type, ha_dvalue *result,
                            const char *operation) {
    const char *objection = ha_convert_or_object(value, type, result);
    if (!objection) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: %s", ha_show_unconverted(value, type).text,
                   objection);
}

ha_status ha_dvalue_convert(ha_dvalue value, ha_dtype type, ha_dvalue *result) {
    const char *const operation = "ha_dvalue_convert";
    if (!result) return ha_fail(HA_ERR_ARGUMENT, operation, "the result is NULL");
    return ha_convert(&value, type, result, operation);
}

ha_status ha_dvalue_store(ha_dvalue value, ha_dtype type, void *address) {
    const char *const operation = "ha_dvalue_store";
    ha_dvalue v;
    if (!address) return ha_fail(HA_ERR_ARGUMENT, operation, "the address is NULL");
    ha_status s = ha_convert(&value, type, &v, operation);
    if (!s) memcpy(address, v.bytes, ha_dtype_size(type));
    return s;
}

/* Of mostly 1 to 16 bytes: a copy that does not know how many takes longer to begin than to run. */
HA_IN_ void ha_copy_number(void *to, const void *from, size_t bytes) {
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

ha_dvalue ha_dvalue_load(ha_dtype type, const void *address) {
    ha_dvalue v;
    memset(&v, 0, sizeof v);
    if (!ha_dtype_size(type) || !address) {
        ha_fail(HA_ERR_ARGUMENT, "ha_dvalue_load", "type %d (%s), address %p", (int)type,
                ha_dtype_name(type), address);
        return v;
    }
    v.type = type;
    ha_copy_number(v.bytes, address, ha_dtype_size(type));
    if (type == HA_DTYPE_bool) v.as_bool = v.as_bool != 0;
    return v;
}

/* ---- comparisons ---------------------------------------------------------------------------- */

HA_IN_ ha_comparison ha_compare_doubles(double a, double b) {
    return a < b ? HA_LESS : a > b ? HA_GREATER : a == b ? HA_EQUAL : HA_UNORDERED;
}

HA_IN_ ha_comparison ha_compare_integers(ha_int128 a, ha_int128 b) {
    return a < b ? HA_LESS : a > b ? HA_GREATER : HA_EQUAL;
}

HA_IN_ ha_comparison ha_compare_mixed(ha_int128 a, double b) {
    if (!(b > -ha_2_to_64 && b < ha_2_to_64)) return ha_compare_doubles(0, b);
    ha_int128 cut = (ha_int128)b; /* towards 0 */
    ha_comparison c = ha_compare_integers(a, cut);
    return c ? c : ha_compare_doubles(0, b - (double)cut);
}

ha_comparison ha_dvalue_compare(ha_dvalue x, ha_dvalue y) {
    const ha_wide a = ha_widen(&x), b = ha_widen(&y);
    if (ha_is_imaginary(&a) || ha_is_imaginary(&b)) {
        int equal = !a.is_integer && !b.is_integer && a.re == b.re && a.im == b.im;
        return equal ? HA_EQUAL : HA_UNORDERED;
    }
    if (a.is_integer && b.is_integer) return ha_compare_integers(a.integer, b.integer);
    if (a.is_integer) return ha_compare_mixed(a.integer, b.re);
    if (!b.is_integer) return ha_compare_doubles(a.re, b.re);
    ha_comparison c = ha_compare_mixed(b.integer, a.re);
    return c == HA_LESS ? HA_GREATER : c == HA_GREATER ? HA_LESS : c;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* As a real of a type; c64 and c128 consist of such. */
HA_IN_ double ha_rounded_as(ha_dtype type, double x) {
    if (type == HA_DTYPE_half) return ha_half_to_double(ha_half_of_double(x));
    if (type == HA_DTYPE_bfloat16) return ha_bfloat16_to_double(ha_bfloat16_of_double(x));
    if (type == HA_DTYPE_float || type == HA_DTYPE_c64) return (double)(float)x;
    return x;
}

/* Whatever the locale writes for it becomes a point. */
HA_IN_ void ha_point_decimals(char *text) {
    size_t before = strspn(text, "0123456789+-e"), sign = strcspn(text + before, "0123456789");
    if (!sign) return;
    text[before] = '.';
    memmove(text + before + 1, text + before + sign, strlen(text + before + sign) + 1);
}

HA_IN_ void ha_print_real(ha_text *t, ha_dtype type, double x) {
    char text[64];
    double read = 0;
    int digits = 0;
    if (x != x || x - x != 0) {
        ha_print(t, "%s", x != x ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    do {
        snprintf(text, sizeof text, "%.*g", ++digits, x);
        read = strtod(text, NULL);
    } while (digits < 17 && ha_rounded_as(type, read) != x);
    double magnitude = x < 0 ? -x : x;
    if (digits < 6 && magnitude >= 1 && magnitude < 1e6) /* 120, not 1.2e+02 */
        snprintf(text, sizeof text, "%.6g", read);
    ha_point_decimals(text);
    ha_print(t, "%s", text);
}

size_t ha_dvalue_print(ha_dvalue value, char *text, size_t bytes) {
    const ha_number_kind kind = ha_dtype_kind(value.type);
    const ha_wide w = ha_widen(&value);
    ha_text t = ha_text_into(text, bytes);
    if (kind == HA_KIND_NONE)
        ha_print(&t, "no value");
    else if (w.is_integer && w.integer < 0)
        ha_print(&t, "%lld", (long long)w.integer);
    else if (w.is_integer)
        ha_print(&t, "%llu", (unsigned long long)w.integer);
    else
        ha_print_real(&t, value.type, w.re);
    if (kind == HA_KIND_COMPLEX) {
        if (!__builtin_signbit(w.im) || w.im != w.im) ha_print(&t, "+");
        ha_print_real(&t, value.type, w.im);
        ha_print(&t, "i");
    }
    return t.length;
}

#endif
