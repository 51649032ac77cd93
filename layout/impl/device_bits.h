/* Functions for devices that read and write values in the other byte order, and integers of few bits. */
#ifndef HARRAY_LAYOUT_IMPL_DEVICE_BITS_H
#define HARRAY_LAYOUT_IMPL_DEVICE_BITS_H

#include "computed.h"
#include "device_tree.h"

/* Is there text for what is stored so? Not for other types, single bytes and floats of few bits. */
static int ha_has_device_text(const ha_mapping *m, const ha_row *row) {
    const ha_coding *c = ha_row_coding(m, row);
    return !c || ((int32_t)c->stored == row->scalar && c->bytes == 0 && c->exponent == 0);
}

/* The bits of a number: whole bytes, which are shifted to where they belong. */
static void ha_put_get_bits(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    const int left = 64 - (int)c->bits;
    ha_put_code(w, "    const $_int at = $_%s_offset(@i);\n", leaf);
    ha_put_code(w, "    const $_GLOBAL unsigned char *from = blob + at / 8;\n"
                   "    $_unsigned bits = ($_unsigned)*from >> at %% 8;\n");
    ha_put_code(w,
                "    for (int have = 8 - (int)(at %% 8); have < %d; have += 8)\n"
                "        bits |= ($_unsigned)*++from << have;\n",
                (int)c->bits);
    if (w->scalar >= HA_I8 && w->scalar <= HA_I64)
        ha_put_code(w, "    return (@T)(($_int)(bits << %d) >> %d);\n}\n", left, left);
    else if (w->scalar == HA_BOOL)
        ha_put_code(w, "    return bits << %d != 0;\n}\n", left);
    else
        ha_put_code(w, "    return (@T)(bits << %d >> %d);\n}\n", left, left);
}

static void ha_put_set_bits(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    const int bits = (int)c->bits, sign = bits - 1;
    ha_put_code(w, "    const $_int at = $_%s_offset(@i);\n", leaf);
    ha_put_code(w, "    $_GLOBAL unsigned char *to = blob + at / 8;\n"
                   "    int first = (int)(at %% 8);\n");
    if (w->scalar >= HA_I8 && w->scalar <= HA_I64)
        ha_put_code(w,
                    "    $_unsigned bits = (($_unsigned)value & ((($_unsigned)1 << %d) - 1)) |\n"
                    "        ($_unsigned)(value < 0) << %d;\n",
                    sign, sign);
    else
        ha_put_code(w, "    $_unsigned bits = ($_unsigned)value & ~($_unsigned)0 >> %d;\n",
                    64 - bits);
    ha_put_code(w,
                "    for (int left = %d; left > 0;) {\n"
                "        const int here = left < 8 - first ? left : 8 - first;\n"
                "        const unsigned int mask = ((1u << here) - 1) << first;\n",
                bits);
    ha_put_code(w, "        *to = (unsigned char)((*to & ~mask) | ((unsigned int)bits << first & "
                   "mask));\n"
                   "        to++;\n        bits >>= here;\n        left -= here;\n"
                   "        first = 0;\n    }\n}\n");
}

/* Bytes of a value, each to its place; those of each part backwards if they are swapped. */
static void ha_put_bytes_loop(ha_device_writer *w, const ha_coding *c) {
    const int size = (int)ha_scalar_size(w->scalar), swap = (int)ha_part_size(w->scalar) - 1;
    if (c && c->swapped)
        ha_put_code(w, "    for (int b = 0; b < %d; b++) to[b] = from[b ^ %d];\n", size, swap);
    else
        ha_put_code(w, "    for (int b = 0; b < %d; b++) to[b] = from[b];\n", size);
}

#endif
