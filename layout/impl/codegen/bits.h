/* Functions for devices that read and write values which are not stored as they are: in the other
 * byte order, byte by byte, as another type, or as few bits. */
#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_BITS_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_BITS_H

#include "values.h"

/* Does a value change on its way, but for the order of its bytes? */
HA_IN_ int ha_is_changed(const ha_coding *c, const ha_row *row) {
    return c && (c->bits > 0 || (int32_t)c->stored != row->type);
}

HA_IN_ int ha_any_is_changed(const ha_mapping *m) {
    for (int64_t k = 0; k < m->rows; k++)
        if (ha_is_changed(ha_row_coding(m, &m->row[k]), &m->row[k])) return 1;
    return 0;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* "const name_GLOBAL unsigned char *blob, ", or a pointer for each byte. */
HA_IN_ void ha_put_blobs(ha_device_writer *w, const ha_coding *c, const char *qualifier) {
    if (!ha_coding_is_scattered_(w->mapping, c)) {
        ha_put_code(w, "%s$_GLOBAL unsigned char *blob, ", qualifier);
        return;
    }
    for (int64_t b = 0; b < c->bytes; b++)
        ha_put_code(w, "%s$_GLOBAL unsigned char *byte%d, ", qualifier, (int)b);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Byte b of a value is which of those that are stored. */
HA_IN_ int ha_stored_byte(const ha_coding *c, int b) {
    return c->swapped ? b ^ ((int)ha_part_size(c->stored) - 1) : b;
}

/* Those of each part backwards if they are swapped. */
HA_IN_ void ha_put_bytes_loop(ha_device_writer *w, const ha_coding *c, ha_dtype stored) {
    const int size = (int)ha_dtype_size(stored), swap = c ? ha_stored_byte(c, 0) : 0;
    if (swap)
        ha_put_code(w, "    for (int b = 0; b < %d; b++) to[b] = from[b ^ %d];\n", size, swap);
    else
        ha_put_code(w, "    for (int b = 0; b < %d; b++) to[b] = from[b];\n", size);
}

/* All bytes of what is stored, to `to`. */
HA_IN_ void ha_put_fetch(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    const ha_dtype stored = c ? c->stored : w->type;
    const int scattered = ha_coding_is_scattered_(w->mapping, c);
    if (c && c->bytes > 0) {
        for (int b = 0; b < (int)c->bytes; b++) {
            ha_put_code(w, scattered ? "    to[%d] = byte%d" : "    to[%d] = blob",
                        ha_stored_byte(c, b), b);
            ha_put_code(w, "[$_%s_offset_%d(@i)];\n", leaf, b);
        }
        return;
    }
    ha_put_code(w, "    const $_GLOBAL unsigned char *from = blob + $_%s_offset(@i);\n", leaf);
    ha_put_bytes_loop(w, c, stored);
}

/* … and from `from`. */
HA_IN_ void ha_put_keep(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    const ha_dtype stored = c ? c->stored : w->type;
    const int scattered = ha_coding_is_scattered_(w->mapping, c);
    if (c && c->bytes > 0) {
        for (int b = 0; b < (int)c->bytes; b++) {
            ha_put_code(w, scattered ? "    byte%d[" : "    blob[", b);
            ha_put_code(w, "$_%s_offset_%d(@i)] = from[%d];\n", leaf, b, ha_stored_byte(c, b));
        }
        return;
    }
    ha_put_code(w, "    $_GLOBAL unsigned char *to = blob + $_%s_offset(@i);\n", leaf);
    ha_put_bytes_loop(w, c, stored);
}

/* ---- values that are changed ----------------------------------------------------------------- */

/* The member of name_value that has numbers, or parts, of this type as their bits. */
HA_IN_ void ha_put_member(ha_device_writer *w, const char *value, ha_dtype type, int part) {
    ha_put_code(w, "%s.i%d[%d]", value, (int)ha_part_size(type), part);
}

/* x as that member. */
HA_IN_ void ha_put_assigned(ha_device_writer *w, const char *value, ha_dtype type, int part) {
    static const char *const types[] = {"unsigned char", "unsigned short", "unsigned int"};
    const int64_t size = ha_part_size(type);
    ha_put_code(w, "        ");
    ha_put_member(w, value, type, part);
    if (size == 8)
        ha_put_code(w, " = x;\n");
    else
        ha_put_code(w, " = (%s)x;\n", types[size / 2]);
}

/* Part by part, from one of these values to the other. */
HA_IN_ void ha_put_all_changed(ha_device_writer *w, const char *from, ha_dtype from_type,
                               const char *to, ha_dtype to_type) {
    for (int part = 0; part <= ha_is_complex(from_type); part++) {
        ha_put_code(w, "    {\n        $_unsigned x = ");
        ha_put_member(w, from, from_type, part);
        ha_put_code(w, ";\n");
        ha_put_extended(w, ha_type_of_part(from_type));
        ha_put_change(w, ha_type_of_part(from_type), ha_type_of_part(to_type));
        ha_put_assigned(w, to, to_type, part);
        ha_put_code(w, "    }\n");
    }
}

/* Gives what is in `made`. */
HA_IN_ void ha_put_return(ha_device_writer *w) {
    const ha_dtype type = w->type;
    const int size = (int)ha_part_size(type);
    if (ha_is_complex(type))
        ha_put_code(w,
                    "    @T value;\n    value.re = made.f%d[0];\n    value.im = made.f%d[1];\n"
                    "    return value;\n}\n",
                    size, size);
    else if (type == HA_DTYPE_float || type == HA_DTYPE_double)
        ha_put_code(w, "    return made.f%d[0];\n}\n", size);
    else
        ha_put_code(w, "    return (@T)made.i%d[0];\n}\n", size);
}

/* What is set, to `given`. */
HA_IN_ void ha_put_given(ha_device_writer *w) {
    const ha_dtype type = w->type;
    const int size = (int)ha_part_size(type);
    ha_put_code(w, "    $_value given, stored;\n");
    if (ha_is_complex(type))
        ha_put_code(w, "    given.f%d[0] = value.re;\n    given.f%d[1] = value.im;\n", size, size);
    else
        ha_put_code(w, "    given.%c%d[0] = value;\n",
                    type == HA_DTYPE_float || type == HA_DTYPE_double ? 'f' : 'i', size);
}

/* ---- bits ------------------------------------------------------------------------------------ */

HA_IN_ void ha_put_get_bits(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    ha_put_code(w, "    $_value made;\n    const $_int at = $_%s_offset(@i);\n", leaf);
    ha_put_code(w, "    const $_GLOBAL unsigned char *from = blob + at / 8;\n"
                   "    {\n        $_unsigned x = ($_unsigned)*from >> at %% 8;\n");
    ha_put_code(w,
                "        for (int have = 8 - (int)(at %% 8); have < %d; have += 8)\n"
                "            x |= ($_unsigned)*++from << have;\n",
                (int)c->bits);
    ha_put_uncut(w, c);
    ha_put_change(w, c->stored, w->type);
    ha_put_assigned(w, "made", w->type, 0);
    ha_put_code(w, "    }\n");
    ha_put_return(w);
}

HA_IN_ void ha_put_set_bits(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    ha_put_given(w);
    ha_put_code(w, "    const $_int at = $_%s_offset(@i);\n", leaf);
    ha_put_code(w, "    $_GLOBAL unsigned char *to = blob + at / 8;\n"
                   "    int first = (int)(at %% 8);\n"
                   "    {\n        $_unsigned x = ");
    ha_put_member(w, "given", w->type, 0);
    ha_put_code(w, ";\n");
    ha_put_extended(w, w->type);
    ha_put_change(w, w->type, c->stored);
    ha_put_cut(w, c);
    ha_put_code(w, "        stored.i8[0] = x;\n    }\n"
                   "    $_unsigned bits = stored.i8[0];\n");
    ha_put_code(w,
                "    for (int left = %d; left > 0;) {\n"
                "        const int here = left < 8 - first ? left : 8 - first;\n"
                "        const unsigned int mask = ((1u << here) - 1) << first;\n",
                (int)c->bits);
    ha_put_code(w, "        *to = (unsigned char)((*to & ~mask) | ((unsigned int)bits << first & "
                   "mask));\n"
                   "        to++;\n        bits >>= here;\n        left -= here;\n"
                   "        first = 0;\n    }\n}\n");
}

#endif
