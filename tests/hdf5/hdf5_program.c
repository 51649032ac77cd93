/* For test_h5py.py. hdf5_program FROM TO NAME...: loads these datasets of a file, at a device, and saves each in another one,
 * and as "view/NAME" its transposed view of every second index of the first dimension, backwards. And "bfloat16": 1, -2.5
 * and 384. */
#define HARRAY_IMPLEMENTATION
#include "../../harray_hdf5.h"

static darray view_of(darray x) {
    if (x.rank && x.extent[0]) x = darray_slice(x, 0, x.extent[0] - 1, HA_ALL, -2);
    return darray_transpose(x);
}

static void copy(const char *from, const char *to, const char *name) {
    char view[200];
    darray x = darray_load_hdf5(from, name, ha_context_find("sim:0"));
    HA_CHECK_ERRORS();
    snprintf(view, sizeof view, "view/%s", name);
    HA_CHECK(darray_save_hdf5(x, to, name));
    HA_CHECK(darray_save_hdf5(view_of(x), to, view));
    HA_CHECK(darray_free(&x));
}

int main(int argc, char **argv) {
    const int64_t extent[] = {3};
    const double values[] = {1, -2.5, 384};
    for (int i = 3; i < argc; i++) copy(argv[1], argv[2], argv[i]);
    darray x = darray_of(HA_DTYPE_double, 1, extent, values, ha_host());
    darray small = darray_convert(x, HA_DTYPE_bfloat16, ha_host());
    HA_CHECK(darray_save_hdf5(small, argv[2], "bfloat16"));
    HA_CHECK(darray_free(&small));
    HA_CHECK(darray_free(&x));
}
