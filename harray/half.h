/* Half precision as storage: the 16 bits of an IEEE 754 binary16. Arithmetic is done in float. */
#ifndef HARRAY_HALF_H
#define HARRAY_HALF_H

#include <stdint.h>

typedef struct ha_half {
    uint16_t bits;
} ha_half;

#endif
