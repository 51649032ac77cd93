/* For test_npy.py. With paths, in pairs: loads an array from the first one and saves it under the
 * second one; and, with .view.npy behind that, its transposed view of every second index of the
 * first dimension, backwards. Also prints it. Otherwise: reads a .npy file from standard input,
 * says on standard error what its header holds, and writes the same elements behind a header of its
 * own to standard output. Exit status: 2 for a header that is refused, whose error it says. */
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"

static unsigned char file[1 << 20];

static darray view_of(darray x) {
    if (x.rank && x.extent[0]) x = darray_slice(x, 0, x.extent[0] - 1, HA_ALL, -2);
    return darray_transpose(x);
}

static void copy(const char *from, const char *to) {
    char view[200];
    darray x = darray_load_npy(from, ha_context_find("sim:0"));
    HA_CHECK_ERRORS();
    HA_CHECK(darray_fprint(x, stdout));
    HA_CHECK(darray_save_npy(x, to));
    snprintf(view, sizeof view, "%s.view.npy", to);
    HA_CHECK(darray_save_npy(view_of(x), view));
    HA_CHECK(darray_free(&x));
}

static int copy_headers(void) {
    unsigned char head[HA_NPY_MOST_BYTES];
    size_t count = fread(file, 1, sizeof file, stdin), bytes;
    char extents[200];
    ha_npy_header h;
    if (ha_npy_parse(file, count, &h)) {
        ha_error error = ha_take_error();
        fprintf(stderr, "%s %s\n", ha_status_name(error.status), error.text);
        return 2;
    }
    bytes = h.bytes;
    ha_extents_print(h.rank, h.extent, extents, sizeof extents);
    fprintf(stderr, "%s %d %d %zu (%s)\n", ha_dtype_name(h.type), h.swapped,
            h.order == HA_COLUMN_MAJOR, bytes, extents);
    HA_CHECK(ha_npy_print(&h, head, sizeof head));
    if (fwrite(head, 1, h.bytes, stdout) != h.bytes) return 1;
    return fwrite(file + bytes, 1, count - bytes, stdout) != count - bytes;
}

int main(int count, char **paths) {
    if (count < 2) return copy_headers();
    for (int i = 1; i + 1 < count; i += 2) copy(paths[i], paths[i + 1]);
    return 0;
}
