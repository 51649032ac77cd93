/* Returns 0 when an array works. */
#include "harray.h"

int main(void) {
    int value = 0;
    harray_int x = harray_int_filled(3, 7);
    ha_status got = harray_int_get(x, 2, &value);
    ha_status freed = harray_int_free(&x);
    return !(got == HA_OK && freed == HA_OK && value == 7);
}
