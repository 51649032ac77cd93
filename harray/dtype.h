/* Element types that are known at run time only, of the table in layout/dtype.h, and values of them.
 *
 *     ha_dvalue x = ha_dvalue_of_double(0.1), y;
 *     HA_CHECK(ha_dvalue_convert(x, HA_DTYPE_half, &y));      // rounded once
 *     HA_CHECK(ha_dvalue_store(y, HA_DTYPE_float, &numbers[3]));
 *     ha_dvalue z = ha_dvalue_load(HA_DTYPE_int64_t, address);
 *     if (ha_dvalue_less(y, z)) …                             // exact for 64-bit integers, too
 *
 * A conversion is exact, or rounded once to the nearest value of the type, of two equally near ones
 * to the even: to integers, too (2.5 becomes 2, not cut off as C's casts do; 3.5 becomes 4). What
 * is too large for a real type becomes infinite, as IEEE 754 says. What is too large for an integer
 * type, or is no number, is refused; so is an imaginary part that would get lost. To bool
 * everything but 0 becomes 1, as in C. */
#ifndef HARRAY_DTYPE_H
#define HARRAY_DTYPE_H

#include "../layout/dtype.h"
#include "type.h"

/* ---- types ---------------------------------------------------------------------------------- */

/* By its name, also "int", or as NumPy calls it: "float64", "int32", "complex64". HA_ERR_NOT_FOUND
 * when there is none; *type is then untouched. */
HA_API HA_MUST_CHECK ha_status ha_dtype_find(const char *name, ha_dtype *type);

/* The type of arrays of such elements; its size is 0 for no type. */
HA_API ha_type ha_dtype_to_type(ha_dtype type);

/* Back, by name and size: HA_ERR_NOT_FOUND for other types, also one of another size that is called
 * the same. */
HA_API HA_MUST_CHECK ha_status ha_dtype_of_type(ha_type type, ha_dtype *dtype);

/* ---- values --------------------------------------------------------------------------------- */

/* A value of a type: v.as_double when v.type is HA_DTYPE_double, and so on. */
typedef struct ha_dvalue {
    ha_dtype type;
    union {
#define HA_DVALUE_MEMBER_(name, T, kind, text) T as_##name;
        HA_DTYPES(HA_DVALUE_MEMBER_)
#undef HA_DVALUE_MEMBER_
        unsigned char bytes[16]; /* any of them; 0 behind a shorter one */
    };
} ha_dvalue;

/* The element at an address, which need not be aligned, with all its bits; of bool, whether it is
 * 0. A value of HA_DTYPE_NONE, and HA_ERR_ARGUMENT in ha_take_error(), for no type or no address.
 * */
HA_API ha_dvalue ha_dvalue_load(ha_dtype type, const void *address);

/* The value as another type. HA_ERR_ARGUMENT, *result is then untouched: it does not fit an
 * integer, is not a number, has an imaginary part; or no type. */
HA_API HA_MUST_CHECK ha_status ha_dvalue_convert(ha_dvalue value, ha_dtype type, ha_dvalue *result);

/* Converts, and writes an element of the type to an address, which need not be aligned. */
HA_API HA_MUST_CHECK ha_status ha_dvalue_store(ha_dvalue value, ha_dtype type, void *address);

/* By value, whatever the types, and exactly: the int64_t 2^53 + 1 is greater than the double 2^53.
 * A NaN has no order, nor a number with an imaginary part, which may only be equal.
 * What is greater has a number that no operation of ops.h has: there it is refused, not taken for HA_ADD. */
typedef enum ha_comparison {
    HA_LESS = -1,
    HA_EQUAL = 0,
    HA_GREATER = 1536,
    HA_UNORDERED
} ha_comparison;
HA_API ha_comparison ha_dvalue_compare(ha_dvalue a, ha_dvalue b);
static inline HA_UNUSED int ha_dvalue_equal(ha_dvalue a, ha_dvalue b) {
    return ha_dvalue_compare(a, b) == HA_EQUAL;
}
static inline HA_UNUSED int ha_dvalue_less(ha_dvalue a, ha_dvalue b) {
    return ha_dvalue_compare(a, b) == HA_LESS;
}

/* "3", "0.1", "1e+300", "nan", "-inf", "1+2i": as few digits as tell the value from the others of
 * its type, in any locale. Into a buffer, as snprintf does: returns the length without the buffer's
 * end. */
HA_API size_t ha_dvalue_print(ha_dvalue value, char *text, size_t bytes);

/* ha_dvalue_of_half(h), ha_dvalue_of_int8_t(i), …, ha_dvalue_of_bool(condition). */
#define HA_DVALUE_OF_(name, T, kind, text)                                                         \
    static inline HA_UNUSED ha_dvalue ha_dvalue_of_##name(T value) {                               \
        return ha_dvalue_load(HA_DTYPE_##name, &value);                                            \
    }
HA_NUMBER_DTYPES(HA_DVALUE_OF_)
#undef HA_DVALUE_OF_
static inline HA_UNUSED ha_dvalue ha_dvalue_of_bool(int condition) {
    const uint8_t value = condition != 0;
    return ha_dvalue_load(HA_DTYPE_bool, &value);
}

#endif
