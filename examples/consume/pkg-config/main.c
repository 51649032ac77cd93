/* Prints 9, computed by a kernel on the simulated device. */
#include <harray_kernels.h>
#include <stdio.h>

HA_KERNEL(square, ((inout, double, x)), i, { x[i] *= x[i]; });

int main(void) {
    harray_double x = harray_double_filled(1000, 3.0);
    HA_CHECK(square(ha_context_find("sim:0"), HA_ALL_LANES, x));
    HA_READING(v, x, ha_host()) printf("%g\n", v.data[999]);
    harray_double_free(&x);
    HA_CHECK_ERRORS();
}
