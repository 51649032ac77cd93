/* Prints 9, computed on the simulated device. */
#include "harray.h"
#include <stdio.h>

static void square(const ha_queue *queue, void *argument) {
    ha_write_double *x = (ha_write_double *)argument;
    double *p = HA_HERE(queue, double, x->data);
    for (size_t i = 0; i < x->size; i++) p[i] *= p[i];
}

int main(void) {
    harray_double x = harray_double_filled(1000, 3.0);
    HA_WRITING(v, x, ha_context_find("sim:0")) HA_RUN(square, v);
    HA_READING(v, x, ha_host()) printf("%g\n", v.data[999]);
    harray_double_free(&x);
    HA_CHECK_ERRORS();
}
