/* A program with a device of its own: it hands the backend in, and works there as on any other. */
#include "../../harray.h"

#include "device.h"

#include <stdio.h>

static void square(const ha_queue *queue, void *argument) {
    const ha_write_double *v = (const ha_write_double *)argument;
    double *x = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) x[i] *= x[i];
}

int main(void) {
    HA_CHECK(ha_backend_register(&example_backend));
    ha_context *device = ha_context_find("example:0");
    double sum = 0;

    harray_double x = harray_double_filled(1000, 3.0);
    HA_WRITING(v, x, device) HA_RUN(square, v);
    HA_READING(v, x, ha_host()) for (size_t i = 0; i < v.size; i++) sum += v.data[i];
    harray_double_free(&x);

    printf("%d devices of kind %s; on %s the squares add up to %g\n", ha_context_count("example"),
           ha_context_kind(device), ha_context_name(device), sum);
    HA_CHECK_ERRORS();
    HA_CHECK(ha_shutdown()); /* a checker of leaks does not know the addresses of a device */
    return sum == 9000 ? 0 : 1;
}
