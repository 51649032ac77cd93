/* What all cases on ranks use: checks that say where and on which rank, random numbers that are the same on all ranks,
 * and views of random types, orders, strides and places, whose elements are known. */
#ifndef HARRAY_TESTS_MPI_RANKS_H
#define HARRAY_TESTS_MPI_RANKS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch_mpi.h"

#define WORLD MPI_COMM_WORLD

static int me, ranks;

/* ---- checks ----------------------------------------------------------------------------------- */

static int failures;
static const char *doing = "";

__attribute__((format(printf, 2, 3))) static void complain(int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[700];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (failures++ < 20) fprintf(stderr, "# rank %d, line %d, %s: %s\n", me, line, doing, text);
}

#define IS_TRUE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) complain(__LINE__, "%s", #condition);                                    \
    } while (0)
#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        const ha_status s_ = (call);                                                               \
        if (s_) complain(__LINE__, "%s: %s: %s", #call, ha_status_name(s_), ha_take_error().text); \
    } while (0)
/* Its text has to have these words. */
#define FAILS(status, words, call)                                                                 \
    do {                                                                                           \
        const ha_status s_ = (call);                                                               \
        const ha_error e_ = ha_take_error();                                                       \
        if (s_ != (status) || !strstr(e_.text, words))                                             \
            complain(__LINE__, "%s: %s, %s", #call, ha_status_name(s_), e_.text);                  \
    } while (0)

/* The cases that have been tried, as TAP. */
static int cases;
static void end_case(const char *name) {
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, WORLD);
    const ha_error e = ha_take_error();
    if (e.status) complain(__LINE__, "an error is left: %s", e.text);
    if (!me) printf("%s %d - %s\n", all ? "not ok" : "ok", ++cases, name);
}

/* ---- random numbers ---------------------------------------------------------------------------- */

static uint64_t random_state = 1;
static int64_t draw(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

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
    sample s = {.element = type ? ha_dtype_size(type) : sizeof(odd)};
    int64_t order[4] = {0, 1, 2, 3}, back[4], step[4], first[4];
    ha_shape room = {.rank = shape->rank};
    const int plain = draw(3) == 0;
    s.is_bool = type == HA_DTYPE_bool;
    for (int d = shape->rank - 1; d > 0 && !plain; d--) {
        const int64_t e = draw(d + 1), swapped = order[d];
        order[d] = order[e];
        order[e] = swapped;
    }
    for (int d = 0; d < shape->rank; d++) {
        step[d] = plain || draw(3) ? 1 : 2;
        first[d] = plain ? 0 : draw(2);
        back[d] = order[d];
        room.extent[order[d]] = first[d] + (shape->extent[d] - 1) * step[d] + 1 +
                                (plain ? 0 : draw(2));
    }
    room.order = !plain && draw(2) ? HA_COLUMN_MAJOR : HA_ROW_MAJOR;
    const ha_type t = type ? ha_dtype_to_type(type) : ha_type_of_("odd", sizeof(odd));
    s.storage = darray_make_of(t, &room, ha_host());
    s.room = ha_array_size(s.storage.array);
    s.view = darray_permute(s.storage, back);
    for (int d = 0; d < shape->rank; d++) {
        s.view = darray_slice(s.view, d, first[d], first[d] + (shape->extent[d] - 1) * step[d] + 1,
                              step[d]);
        if (!plain && draw(4) == 0) s.view = darray_flip(s.view, d);
    }
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
