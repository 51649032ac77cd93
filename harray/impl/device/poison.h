/* Values that nobody has written, so that whoever computes with them notices: with HARRAY_DEBUG, and on
 * devices that are strict. A signalling NaN for what is a number with a point, a byte that is
 * unlikely for integers, and for types of the user's own eight bytes that are a NaN as double and as
 * float. */
#ifndef HARRAY_IMPL_DEVICE_POISON_H
#define HARRAY_IMPL_DEVICE_POISON_H

#include "timeline.h"
#include "../elements/all.h"

static inline int ha_poisons(const ha_context *c) { return HA_DEBUGGING_ || c->strict; }

/* The pattern repeats after one, two or four bytes, which is what every device can fill with. */
typedef struct ha_poison {
    unsigned char bytes[4];
    size_t period;
} ha_poison;

enum { HA_POISON_BYTE = 0xDB };

HA_IN_ ha_poison ha_poison_word(uint32_t word, size_t period) {
    ha_poison p = {.period = period};
    for (size_t i = 0; i < 4; i++) p.bytes[i] = (unsigned char)(word >> 8 * (i % period));
    return p;
}

/* Of a type by its name, if it has this size. */
HA_IN_ ha_poison ha_poison_of(const char *type, size_t element) {
    const ha_dtype dtype = ha_dtype_named(type);
    const int known = dtype && ha_dtype_size(dtype) == element;
    if (known && (dtype == HA_DTYPE_double || dtype == HA_DTYPE_c128))
        return ha_poison_word(0x7FF4DEAD, 4);
    if (known && (dtype == HA_DTYPE_float || dtype == HA_DTYPE_c64))
        return ha_poison_word(0x7FB4DEAD, 4);
    if (known && dtype == HA_DTYPE_half) return ha_poison_word(0x7D5A, 2);
    if (known && dtype == HA_DTYPE_bfloat16) return ha_poison_word(0x7FA5, 2);
    if (known || element % 4) return ha_poison_word(HA_POISON_BYTE, 1);
    return ha_poison_word(0x7FF4DEAD, 4);
}

/* [to, to + bytes), as a part of what begins at `origin`. */
HA_IN_ void ha_poison_fill(ha_poison p, uintptr_t origin, void *to, size_t bytes) {
    const size_t phase = (size_t)((uintptr_t)to - origin);
    unsigned char *at = (unsigned char *)to, some[256];
    for (size_t i = 0; i < sizeof some; i++) some[i] = p.bytes[(phase + i) % p.period];
    for (; bytes >= sizeof some; at += sizeof some, bytes -= sizeof some)
        memcpy(at, some, sizeof some);
    memcpy(at, some, bytes);
}

/* Enqueues that; it is a help, so what the device cannot do is left out. A whole number of periods. */
HA_IN_ void ha_poison_enqueue(ha_context *c, ha_poison p, void *to, size_t bytes) {
    ha_note note = ha_backend_note;
    if (!HA_HAS_(c->ops, ha_queue_ops, fill)) return;
    (void)ha_queue_status(c, c->ops->fill(c->queue, to, p.bytes, p.period, bytes / p.period));
    ha_backend_note = note;
}

#endif
