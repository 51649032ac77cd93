/* Types of elements in HDF5: which one a dataset has, and how one is made. */
#ifndef HARRAY_IMPL_HDF5_TYPES_H
#define HARRAY_IMPL_HDF5_TYPES_H

#include "call.h"

/* ---- making ----------------------------------------------------------------------------------- */

/* Those of 2 bytes have a sign, an exponent and a mantissa as all others, but fewer bits of them. */
HA_IN_ hid_t ha_hdf5_make_small(size_t mantissa, size_t exponent, size_t bias) {
    const hid_t t = H5Tcopy(H5T_NATIVE_FLOAT);
    if (t < 0) return t;
    if (H5Tset_fields(t, 15, mantissa, exponent, 0, mantissa) >= 0 && H5Tset_size(t, 2) >= 0 &&
        H5Tset_ebias(t, bias) >= 0)
        return t;
    (void)H5Tclose(t);
    return H5I_INVALID_HID;
}

HA_IN_ hid_t ha_hdf5_make_complex(hid_t part) {
    const size_t size = H5Tget_size(part);
    const hid_t t = H5Tcreate(H5T_COMPOUND, 2 * size);
    if (t < 0) return t;
    if (H5Tinsert(t, "r", 0, part) >= 0 && H5Tinsert(t, "i", size, part) >= 0) return t;
    (void)H5Tclose(t);
    return H5I_INVALID_HID;
}

HA_IN_ hid_t ha_hdf5_make_bool(void) {
    const signed char no = 0, yes = 1;
    const hid_t t = H5Tenum_create(H5T_NATIVE_INT8);
    if (t < 0) return t;
    if (H5Tenum_insert(t, "FALSE", &no) >= 0 && H5Tenum_insert(t, "TRUE", &yes) >= 0) return t;
    (void)H5Tclose(t);
    return H5I_INVALID_HID;
}

/* Below 0: HDF5 has failed, or there is no such type. */
HA_IN_ hid_t ha_hdf5_make_type(ha_dtype type) {
    switch (type) {
    case HA_DTYPE_bool:
        return ha_hdf5_make_bool();
    case HA_DTYPE_int8_t:
        return H5Tcopy(H5T_NATIVE_INT8);
    case HA_DTYPE_int16_t:
        return H5Tcopy(H5T_NATIVE_INT16);
    case HA_DTYPE_int32_t:
        return H5Tcopy(H5T_NATIVE_INT32);
    case HA_DTYPE_int64_t:
        return H5Tcopy(H5T_NATIVE_INT64);
    case HA_DTYPE_uint8_t:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case HA_DTYPE_uint16_t:
        return H5Tcopy(H5T_NATIVE_UINT16);
    case HA_DTYPE_uint32_t:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case HA_DTYPE_uint64_t:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case HA_DTYPE_half:
        return ha_hdf5_make_small(10, 5, 15);
    case HA_DTYPE_bfloat16:
        return ha_hdf5_make_small(7, 8, 127);
    case HA_DTYPE_float:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case HA_DTYPE_double:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case HA_DTYPE_c64:
        return ha_hdf5_make_complex(H5T_NATIVE_FLOAT);
    case HA_DTYPE_c128:
        return ha_hdf5_make_complex(H5T_NATIVE_DOUBLE);
    case HA_DTYPE_NONE:
        break;
    }
    return H5I_INVALID_HID;
}

hid_t darray_hdf5_type(ha_dtype type) {
    ha_hdf5_call call = {.operation = "darray_hdf5_type", .name = "", .path = ""};
    if (!ha_dtype_size(type)) {
        ha_fail(HA_ERR_ARGUMENT, call.operation, "%d is no type of elements", (int)type);
        return H5I_INVALID_HID;
    }
    ha_hdf5_enter(&call);
    const hid_t made = ha_hdf5_make_type(type);
    if (made < 0) ha_hdf5_failed(&call, "making a type");
    ha_hdf5_leave(&call);
    return made;
}

/* ---- recognising ------------------------------------------------------------------------------ */

/* What tells floats apart, but for the order of their bytes: sizes in bytes and in bits, where sign, exponent and
 * mantissa are. */
typedef struct ha_hdf5_bits {
    size_t size, precision, sign, exponent, exponent_bits, mantissa, mantissa_bits, bias;
} ha_hdf5_bits;

HA_IN_ ha_hdf5_bits ha_hdf5_bits_of(hid_t t) {
    ha_hdf5_bits b;
    memset(&b, 0, sizeof b);
    b.size = H5Tget_size(t);
    b.precision = H5Tget_precision(t);
    (void)H5Tget_fields(t, &b.sign, &b.exponent, &b.exponent_bits, &b.mantissa, &b.mantissa_bits);
    b.bias = H5Tget_ebias(t);
    return b;
}

HA_IN_ ha_dtype ha_hdf5_real_of(hid_t t) {
    static const struct {
        ha_dtype type;
        ha_hdf5_bits bits;
    } known[] = {
        {HA_DTYPE_double, {8, 64, 63, 52, 11, 0, 52, 1023}},
        {HA_DTYPE_float, {4, 32, 31, 23, 8, 0, 23, 127}},
        {HA_DTYPE_half, {2, 16, 15, 10, 5, 0, 10, 15}},
        {HA_DTYPE_bfloat16, {2, 16, 15, 7, 8, 0, 7, 127}},
    };
    const ha_hdf5_bits bits = ha_hdf5_bits_of(t);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!memcmp(&bits, &known[i].bits, sizeof bits) && H5Tget_norm(t) == H5T_NORM_IMPLIED)
            return known[i].type;
    return HA_DTYPE_NONE;
}

HA_IN_ ha_dtype ha_hdf5_integer_of(hid_t t) {
    static const ha_dtype with_sign[] = {HA_DTYPE_int8_t, HA_DTYPE_int16_t, HA_DTYPE_int32_t,
                                         HA_DTYPE_int64_t},
                          without[] = {HA_DTYPE_uint8_t, HA_DTYPE_uint16_t, HA_DTYPE_uint32_t,
                                       HA_DTYPE_uint64_t};
    const size_t size = H5Tget_size(t);
    const ha_dtype *types = H5Tget_sign(t) == H5T_SGN_NONE ? without : with_sign;
    for (int i = 0; i < 4; i++)
        if (size == ha_dtype_size(types[i]) && H5Tget_precision(t) == 8 * size) return types[i];
    return HA_DTYPE_NONE;
}

/* Whether member i is called so. */
HA_IN_ int ha_hdf5_member_is(hid_t t, unsigned i, const char *name) {
    char *its = H5Tget_member_name(t, i);
    const int same = its && !strcmp(its, name);
    (void)H5free_memory(its);
    return same;
}

HA_IN_ ha_dtype ha_hdf5_complex_of(hid_t t) {
    ha_dtype part[2] = {HA_DTYPE_NONE, HA_DTYPE_NONE};
    if (H5Tget_nmembers(t) != 2 || !ha_hdf5_member_is(t, 0, "r") || !ha_hdf5_member_is(t, 1, "i"))
        return HA_DTYPE_NONE;
    for (unsigned i = 0; i < 2; i++) {
        const hid_t member = H5Tget_member_type(t, i);
        if (member >= 0 && H5Tget_class(member) == H5T_FLOAT) part[i] = ha_hdf5_real_of(member);
        if (member >= 0) (void)H5Tclose(member);
    }
    if (part[0] != part[1]) return HA_DTYPE_NONE;
    if (part[0] == HA_DTYPE_double) return HA_DTYPE_c128;
    return part[0] == HA_DTYPE_float ? HA_DTYPE_c64 : HA_DTYPE_NONE;
}

HA_IN_ ha_dtype ha_hdf5_enum_of(hid_t t) {
    const unsigned char no = 0, yes = 1;
    unsigned char value[2] = {2, 2};
    if (H5Tget_size(t) != 1 || H5Tget_nmembers(t) != 2) return HA_DTYPE_NONE;
    if (H5Tenum_valueof(t, "FALSE", &value[0]) < 0 || H5Tenum_valueof(t, "TRUE", &value[1]) < 0)
        return HA_DTYPE_NONE;
    return value[0] == no && value[1] == yes ? HA_DTYPE_bool : HA_DTYPE_NONE;
}

/* HA_DTYPE_NONE: harray has no such elements. */
HA_IN_ ha_dtype ha_hdf5_dtype_of(hid_t t) {
    switch (H5Tget_class(t)) {
    case H5T_INTEGER:
        return ha_hdf5_integer_of(t);
    case H5T_FLOAT:
        return ha_hdf5_real_of(t);
    case H5T_COMPOUND:
        return ha_hdf5_complex_of(t);
    case H5T_ENUM:
        return ha_hdf5_enum_of(t);
    default:
        return HA_DTYPE_NONE;
    }
}

#endif
