/* For libFuzzer: bytes are a .npy file, or choices of what stands in one and of what is then
 * spoilt. What is parsed is written, and parsed again. Files with elements are loaded and mapped,
 * or refused, as their header and length say; what was loaded is written, and is the same.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined tests/exchange/fuzz_npy.c -o fuzz -pthread
 *     ./fuzz -max_len=512 -max_total_time=600 corpus/ */
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void require(int condition) {
    if (!condition) abort();
}

/* ---- a header that is right but for a few bytes --------------------------------------------- */

typedef struct choices {
    const uint8_t *at, *end;
} choices;

static unsigned choose(choices *c, unsigned below) { return c->at < c->end ? *c->at++ % below : 0; }

#define CHOOSE(c, list) (list)[choose(c, sizeof(list) / sizeof *(list))]

static void add_shape(choices *c, ha_text *t) {
    static const char *const extents[] = {
        "3", "0", "1", "12", "65536L", "4294967296", "9223372036854775807", "9223372036854775808"};
    static const char *const commas[] = {", ", ",", " ,\t"};
    unsigned rank = choose(c, HA_MOST_RANK + 2);
    ha_print(t, "'shape': (");
    for (unsigned d = 0; d < rank; d++)
        ha_print(t, "%s%s", CHOOSE(c, extents), d && d == rank - 1 ? "" : CHOOSE(c, commas));
    ha_print(t, ")");
}

static void add_item(choices *c, ha_text *t, unsigned item) {
    static const char *const types[] = {"<f8", "|u1", "|b1", "<f2", ">c16", "<i4", "|O", "|V8"};
    static const char *const orders[] = {"False", "True", "Falsely"};
    if (item == 0)
        ha_print(t, "'descr': '%s'", CHOOSE(c, types));
    else if (item == 1)
        ha_print(t, "\"fortran_order\": %s", CHOOSE(c, orders));
    else
        add_shape(c, t);
}

/* Bytes are overwritten, and what is behind others is cut off. */
static void spoil(choices *c, char *text, size_t *length) {
    unsigned times = choose(c, 4);
    while (times-- && *length) {
        size_t at = choose(c, 256) % *length;
        if (choose(c, 8))
            text[at] = (char)choose(c, 256);
        else
            *length = at;
    }
}

/* A file in a block that ends where it ends: to be freed. */
static uint8_t *compose(choices *c, size_t *count) {
    char text[512];
    ha_text t = {text, sizeof text, 0};
    unsigned first = choose(c, 3), version = 1 + choose(c, 3), head = version == 1 ? 10 : 12;
    ha_print(&t, "{");
    for (unsigned i = 0; i < 3; i++) {
        add_item(c, &t, (first + i) % 3);
        if (i < 2 || choose(c, 2)) ha_print(&t, ", ");
    }
    ha_print(&t, "}%*s\n", (int)choose(c, 64), "");
    require(t.length < sizeof text);
    spoil(c, text, &t.length);
    uint8_t *file = (uint8_t *)calloc(1, head + t.length);
    require(file != NULL);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[8] = (uint8_t)t.length;
    file[9] = (uint8_t)(t.length >> 8);
    memcpy(file + head, text, t.length);
    *count = head + t.length;
    return file;
}

/* ---- what must hold ------------------------------------------------------------------------- */

static void check(ha_npy_header h, size_t count) {
    char text[HA_NPY_MOST_BYTES];
    ha_npy_header back;
    int64_t elements;
    require(h.bytes <= count && h.rank >= 0 && h.rank <= HA_MOST_RANK);
    require(ha_dtype_size(h.type) > 0 && (h.swapped == 0 || h.swapped == 1));
    require(!ha_extents_product(h.rank, h.extent, &elements));
    require(elements <= INT64_MAX / (int64_t)ha_dtype_size(h.type));
    require(!ha_npy_print(&h, text, sizeof text));
    require(!ha_npy_parse(text, h.bytes, &back));
    require(back.type == h.type && back.swapped == h.swapped && back.order == h.order);
    require(back.bytes == h.bytes && h.bytes % 64 == 0);
    require(back.rank == h.rank && !memcmp(back.extent, h.extent, sizeof h.extent));
}

/* ---- files with elements -------------------------------------------------------------------- */

/* With elements behind what may be a header: as many as it says, one byte less or more, any bytes. */
static uint8_t *with_elements(choices *c, const uint8_t *head, size_t *count) {
    ha_npy_header h;
    size_t bytes = 0;
    if (!ha_npy_parse(head, *count, &h) && h.bytes == *count) bytes = ha_npy_bytes(&h);
    if (bytes > 1 << 12) bytes = 1 << 12; /* it is cut */
    bytes += choose(c, 8) ? 0 : choose(c, 3);
    bytes -= bytes && !choose(c, 8);
    uint8_t *file = (uint8_t *)calloc(1, *count + bytes + 1);
    require(file != NULL);
    memcpy(file, head, *count);
    for (size_t i = 0; i < bytes && c->at < c->end; i++) file[*count + i] = *c->at++;
    *count += bytes;
    return file;
}

/* The path of a file that is this. */
static const char *put_file(const uint8_t *bytes, size_t count) {
    static char path[40];
    static int file = -1;
    if (file < 0) file = memfd_create("npy", 0);
    require(file >= 0 && !ftruncate(file, 0));
    require(pwrite(file, bytes, count, 0) == (ssize_t)count);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

/* Elements that were written are those of the file. What is true there may be another byte than 1. */
static void check_elements(ha_dtype type, const uint8_t *written, const uint8_t *elements,
                           size_t bytes) {
    if (type != HA_DTYPE_bool) require(!memcmp(written, elements, bytes));
    for (size_t i = 0; i < bytes && type == HA_DTYPE_bool; i++)
        require(!written[i] == !elements[i]);
}

/* What was loaded is as the file says, and becomes the same when it is written. */
static void check_loaded(darray x, const ha_npy_header *h, const uint8_t *elements) {
    char *text = NULL;
    size_t length = 0;
    ha_npy_header back;
    FILE *file = open_memstream(&text, &length);
    require(x.type == h->type && x.rank == h->rank && darray_is_contiguous(x, h->order));
    require(!memcmp(x.extent, h->extent, sizeof x.extent));
    require(file && !darray_write_npy(x, file) && !fclose(file));
    require(!ha_npy_parse(text, length, &back) && length == back.bytes + ha_npy_bytes(h));
    require(back.type == h->type && back.rank == h->rank && !back.swapped);
    require(!memcmp(back.extent, h->extent, sizeof h->extent));
    if (!h->swapped && (back.order == h->order || darray_size(x) < 2))
        check_elements(h->type, (const uint8_t *)text + back.bytes, elements, length - back.bytes);
    free(text);
}

/* No element, and extents whose strides do not fit. */
static int overflows(const ha_npy_header *h) {
    int64_t stride[HA_MOST_RANK];
    return !ha_npy_bytes(h) && ha_extents_strides(h->rank, h->extent, h->order, stride);
}

static void load(const uint8_t *bytes, size_t count) {
    const char *path = put_file(bytes, count);
    ha_npy_header h;
    int is_right = !ha_npy_parse(bytes, count, &h) && count == h.bytes + ha_npy_bytes(&h);
    is_right = is_right && !overflows(&h);
    darray loaded = darray_load_npy(path, NULL), mapped = darray_map_npy(path, 0);
    require((loaded.array != NULL) == is_right);
    require(!mapped.array || (is_right && !h.swapped));
    require(mapped.array || !is_right || h.swapped || h.bytes % ha_dtype_alignment(h.type));
    if (loaded.array) check_loaded(loaded, &h, bytes + h.bytes);
    if (mapped.array) check_loaded(mapped, &h, bytes + h.bytes);
    require(!darray_free(&loaded) && !darray_free(&mapped));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    ha_npy_header h;
    choices c = {bytes, bytes + count};
    size_t n;
    if (!ha_npy_parse(bytes, count, &h)) check(h, count);
    uint8_t *head = compose(&c, &n);
    if (!ha_npy_parse(head, n, &h)) check(h, n);
    uint8_t *file = with_elements(&c, head, &n);
    load(file, n);
    load(bytes, count);
    free(file);
    free(head);
    (void)ha_take_error();
    return 0;
}
