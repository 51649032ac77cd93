/* Complex numbers as storage: the layout of C's float _Complex and double _Complex (C11 6.2.5
 * p13: two consecutive reals), in a form that C, C++ and device compilers all accept. */
#ifndef HARRAY_COMPLEX_H
#define HARRAY_COMPLEX_H

typedef struct ha_c64 {
    float re, im;
} ha_c64;

typedef struct ha_c128 {
    double re, im;
} ha_c128;

#endif
