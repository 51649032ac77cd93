/* What all cases on ranks use: views of random types, orders, strides and places, the same on all ranks, whose elements
 * are known. */
#ifndef HARRAY_TESTS_MPI_RANKS_H
#define HARRAY_TESTS_MPI_RANKS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/random_views.h"
#include "checks.h"
#include "watch_mpi.h"

/* ---- known elements ---------------------------------------------------------------------------- */

/* Of the user's own type. */
typedef struct odd {
    unsigned char bytes[12];
} odd;

static const ha_dtype number_types[] = {HA_DTYPE_double, HA_DTYPE_float,    HA_DTYPE_int32_t,
                                        HA_DTYPE_int8_t, HA_DTYPE_uint64_t, HA_DTYPE_half,
                                        HA_DTYPE_c128,   HA_DTYPE_bool,     HA_DTYPE_int16_t};
enum { NUMBER_TYPES = sizeof number_types / sizeof *number_types, MOST_BYTES = 16 };

/* The bytes of element k of a message; salt tells messages apart. */
static void known_element(unsigned char *bytes, size_t size, int is_bool, uint64_t salt,
                          int64_t k) {
    uint64_t x = (salt + 1) * 0x9E3779B97F4A7C15u + (uint64_t)k * 0xBF58476D1CE4E5B9u;
    for (size_t i = 0; i < size; i++) {
        x ^= x >> 29;
        x *= 0x94D049BB133111EBu;
        bytes[i] = (unsigned char)(is_bool ? x >> 60 & 1 : x >> 56);
    }
}

/* ---- random views ------------------------------------------------------------------------------ */

static ha_context *places[3];
enum { PLACES = 3 };

/* A view, its storage, and what the storage has to have. */
typedef struct sample {
    darray storage, view;
    size_t element;
    int is_bool;
    char *model; /* of all elements that the storage has room for */
    size_t room;
} sample;

typedef struct shape_of {
    int type, rank; /* NUMBER_TYPES: odd */
    int64_t extent[4];
} shape_of;

static shape_of some_shape(int64_t most) {
    shape_of s = {.type = (int)draw(NUMBER_TYPES + 1), .rank = 1 + (int)draw(4)};
    for (int d = 0; d < s.rank; d++) s.extent[d] = 1 + draw(s.rank < 3 ? most : 6);
    return s;
}

/* The model as element index in the storage of element k of the view. */
static char *model_at(sample *s, const int64_t *index) {
    int64_t at = s->view.offset;
    for (int d = 0; d < s->view.rank; d++) at += index[d] * s->view.stride[d];
    return s->model + (size_t)at * s->element;
}

/* The view is to have the known elements of a message. */
static void model_becomes(sample *s, uint64_t salt) {
    int64_t index[4] = {0}, k = 0;
    for (int d = 0; d >= 0;) {
        known_element((unsigned char *)model_at(s, index), s->element, s->is_bool, salt, k++);
        for (d = s->view.rank - 1; d >= 0 && ++index[d] == s->view.extent[d]; d--) index[d] = 0;
    }
}

/* From the model, by the whole storage; then it is brought to a random place. */
static void model_is_written(sample *s, ha_context *c) {
    const int64_t n = (int64_t)ha_array_size(s->storage.array);
    ha_access v;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, s->storage.array, ha_host(), HA_OVERWRITE, 0, HA_END));
    memcpy(v.data, s->model, (size_t)n * s->element);
    SUCCEEDS(ha_close(&v));
    SUCCEEDS(ha_array_prefetch(s->storage.array, c, 0, HA_END));
    if (c == ha_host() || draw(2)) return;
    SUCCEEDS(ha_open(&v, s->storage.array, c, HA_WRITE, 0, HA_END)); /* valid there alone */
    SUCCEEDS(ha_close(&v));
}

static void is_as_modelled(sample *s) {
    ha_access v;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, s->storage.array, ha_host(), HA_READ, 0, HA_END));
    if (v.data) IS_TRUE(!memcmp(v.data, s->model, s->room * s->element));
    if (v.data) SUCCEEDS(ha_close(&v));
}

/* A storage in which a view of the shape has room: with other orders, steps, and backwards. Its type is this one. */
static sample numbered_sample(ha_dtype type, const shape_of *shape) {
    const ha_type t = type ? ha_dtype_to_type(type) : ha_type_of_("odd", sizeof(odd));
    sample s = {.element = t.size, .is_bool = type == HA_DTYPE_bool};
    s.view = random_view(t, shape->rank, shape->extent, &s.storage);
    s.room = ha_array_size(s.storage.array);
    s.model = malloc(s.room * s.element);
    for (size_t i = 0; i < s.room; i++)
        known_element((unsigned char *)s.model + i * s.element, s.element, s.is_bool, 77,
                      (int64_t)i);
    return s;
}

static sample some_sample(const shape_of *shape) {
    return numbered_sample(shape->type == NUMBER_TYPES ? HA_DTYPE_NONE : number_types[shape->type],
                           shape);
}

static void free_sample(sample *s) {
    SUCCEEDS(darray_free(&s->storage));
    free(s->model);
}

#endif
