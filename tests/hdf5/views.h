/* What the tests of datasets use, by one process and on ranks: random views of all types and strides whose elements are
 * known, and the naive model of a dataset. To be included behind harray_hdf5.h, which is watched
 * (watch_hdf5.h). */
#ifndef HARRAY_TESTS_HDF5_VIEWS_H
#define HARRAY_TESTS_HDF5_VIEWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/random_views.h"

/* ---- elements ---------------------------------------------------------------------------------- */

enum { TYPES = HA_DTYPE_c128, MOST = 5 }; /* HA_DTYPE_bool to HA_DTYPE_c128; ranks */

/* The bytes of element k under a salt. Finite numbers, so that whatever compares them finds them the same. */
static void known_element(char *bytes, ha_dtype type, uint64_t salt, int64_t k) {
    uint64_t x = (salt + 1) * 0x9E3779B97F4A7C15u + (uint64_t)k * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 29) * 0x94D049BB133111EBu >> 40;
    ha_dvalue v = ha_dvalue_of_double((double)(x % 97));
    if (type == HA_DTYPE_bool) v = ha_dvalue_of_bool((int)(x & 1));
    if (type == HA_DTYPE_c128) {
        const double parts[2] = {(double)(x % 97), (double)(x % 31)};
        memcpy(bytes, parts, sizeof parts);
    } else if (type == HA_DTYPE_c64) {
        const float parts[2] = {(float)(x % 97), (float)(x % 31)};
        memcpy(bytes, parts, sizeof parts);
    } else if (ha_dvalue_store(v, type, bytes))
        abort();
}

/* ---- random views ------------------------------------------------------------------------------ */

static ha_context *places[2]; /* the host and a simulated device */
enum { PLACES = 2 };

/* A view, its storage, and what the storage has to have. */
typedef struct sample {
    darray storage, view;
    size_t element;
    char *model;
    size_t room; /* elements of the storage */
} sample;

typedef struct block_shape {
    ha_dtype type;
    int rank;
    int64_t extent[MOST];
} block_shape;

static block_shape some_shape(int least_rank) {
    static const int64_t most[MOST + 1] = {1, 60, 9, 6, 5, 4};
    block_shape s = {.type = (ha_dtype)(1 + draw(TYPES)),
                     .rank = least_rank + (int)draw(MOST + 1 - least_rank)};
    for (int d = 0; d < s.rank; d++) s.extent[d] = 1 + draw(most[s.rank]);
    return s;
}

static int64_t shape_size(const block_shape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->extent[d];
    return n;
}

/* The next index in the order of a dataset; 0: that was the last one. */
static int next_index(int rank, const int64_t *extent, int64_t *index) {
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static char *model_at(const sample *s, const int64_t *index) {
    int64_t at = s->view.offset;
    for (int d = 0; d < s->view.rank; d++) at += index[d] * s->view.stride[d];
    return s->model + (size_t)at * s->element;
}

/* All of the storage, on the host: the model, or what nobody may see. */
static void fill_storage(const sample *s, int with_model) {
    ha_access v;
    memset(&v, 0, sizeof v);
    HA_CHECK(ha_open(&v, s->storage.array, ha_host(), HA_OVERWRITE, 0, HA_END));
    if (with_model)
        memcpy(v.data, s->model, s->room * s->element);
    else
        memset(v.data, 0x5a, s->room * s->element);
    HA_CHECK(ha_close(&v));
}

/* From the model; then it is brought to a place, and may be valid there alone, with other bytes on the host. */
static void storage_becomes_model(const sample *s, ha_context *c) {
    const int rows = darray_is_contiguous(s->storage, HA_ROW_MAJOR);
    fill_storage(s, 1);
    HA_CHECK(ha_array_prefetch(s->storage.array, c, 0, HA_END));
    if (c == ha_host() || draw(3) == 0) return;
    darray twin = darray_contiguous(s->storage, rows ? HA_ROW_MAJOR : HA_COLUMN_MAJOR, c);
    HA_CHECK(darray_prefetch(twin, c));
    fill_storage(s, 0);
    HA_CHECK(ha_array_prefetch(s->storage.array, c, 0, HA_END));
    HA_CHECK(darray_copy(s->storage, twin, c));
    if (ha_array_valid(s->storage.array, ha_host(), 0, HA_END)) abort();
    HA_CHECK(darray_free(&twin));
}

static int storage_is_model(const sample *s) {
    ha_access v;
    memset(&v, 0, sizeof v);
    HA_CHECK(ha_open(&v, s->storage.array, ha_host(), HA_READ, 0, HA_END));
    const int same = !memcmp(v.data, s->model, s->room * s->element);
    HA_CHECK(ha_close(&v));
    return same;
}

/* A view of this shape: with other orders, steps, and backwards. Its storage has known elements. */
static sample some_sample(const block_shape *shape, ha_context *c) {
    sample s = {.element = ha_dtype_size(shape->type)};
    s.view = random_view(ha_dtype_to_type(shape->type), shape->rank, shape->extent, &s.storage);
    s.room = ha_array_size(s.storage.array);
    HA_CHECK_ERRORS();
    s.model = malloc(s.room * s.element);
    for (size_t i = 0; i < s.room; i++)
        known_element(s.model + i * s.element, shape->type, 77, (int64_t)i);
    storage_becomes_model(&s, c);
    return s;
}

static void free_sample(sample *s) {
    HA_CHECK(darray_free(&s->storage));
    free(s->model);
}

/* ---- datasets ---------------------------------------------------------------------------------- */

/* The caller's to be closed: the implementation has given it away. */
static hid_t type_of(ha_dtype type) {
    const hid_t t = darray_hdf5_type(type);
    hdf5_open -= t >= 0;
    return t;
}

/* The elements of a dataset as they have to be, in its order. */
typedef struct expected {
    block_shape shape;
    size_t element;
    char *bytes;
} expected;

/* Known elements under a salt. */
static expected expect(const block_shape *shape, uint64_t salt) {
    expected e = {.shape = *shape, .element = ha_dtype_size(shape->type)};
    const int64_t n = shape_size(shape);
    e.bytes = malloc((size_t)n * e.element + 1);
    for (int64_t i = 0; i < n; i++)
        known_element(e.bytes + (size_t)i * e.element, shape->type, salt, i);
    return e;
}

static char *expected_at(const expected *e, const int64_t *index, const int64_t *offset) {
    int64_t at = 0;
    for (int d = 0; d < e->shape.rank; d++) at = at * e->shape.extent[d] + offset[d] + index[d];
    return e->bytes + (size_t)at * e->element;
}

/* The block at an offset becomes the view's elements, or these the block's. */
static void move_in_model(const expected *e, const int64_t *offset, const sample *s, int to_file) {
    int64_t index[MOST] = {0};
    if (!darray_size(s->view)) return;
    do {
        char *in_file = expected_at(e, index, offset), *in_view = model_at(s, index);
        memcpy(to_file ? in_file : in_view, to_file ? in_view : in_file, s->element);
    } while (next_index(s->view.rank, s->view.extent, index));
}

/* A dataset of this shape, with these elements if it is told to; by HDF5 alone. `properties`: how it is stored. */
static hid_t make_dataset(hid_t where, const char *name, const expected *e, hid_t properties,
                          int write) {
    hsize_t extent[MOST];
    for (int d = 0; d < e->shape.rank; d++) extent[d] = (hsize_t)e->shape.extent[d];
    const hid_t type = type_of(e->shape.type);
    const hid_t space = e->shape.rank ? H5Screate_simple(e->shape.rank, extent, NULL)
                                      : H5Screate(H5S_SCALAR);
    const hid_t made = H5Dcreate2(where, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (made < 0) abort();
    if (write && H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, e->bytes) < 0) abort();
    H5Sclose(space);
    H5Tclose(type);
    return made;
}

/* All of a dataset, as it is. */
static expected content_of(hid_t dataset, const block_shape *shape) {
    expected e = expect(shape, 0);
    const hid_t type = type_of(shape->type);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, e.bytes) < 0) abort();
    H5Tclose(type);
    return e;
}

static int same_elements(const expected *x, const expected *y) {
    return !memcmp(x->bytes, y->bytes, (size_t)shape_size(&x->shape) * x->element);
}

#endif
