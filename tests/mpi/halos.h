/* Halos of all kinds, against the cells of one grid that all ranks know: of up to three dimensions, periodic or not, of
 * fields of several types and orders, anywhere. */
#ifndef HARRAY_TESTS_MPI_HALOS_H
#define HARRAY_TESTS_MPI_HALOS_H

#include "collectives.h"

enum { MOST_FIELDS = 3, UNKNOWN = -7 };

typedef struct halo_case {
    MPI_Comm cart;
    int dimensions, size[3], is_periodic[3], at[3], kind, more;
    int64_t width, interior[3], last; /* `last`: extent of a further dimension, if there is one */
    size_t fields;
    ha_dtype type[MOST_FIELDS];
    darray field[MOST_FIELDS];
} halo_case;

/* What the cell of the whole grid has in a step. */
static double cell_at(const halo_case *h, const int64_t *where, int64_t along, size_t field,
                      int step) {
    int64_t x = (int64_t)field + 2 * step + 3 * along;
    for (int d = 0; d < h->dimensions; d++) x = 7 * x + where[d];
    return (double)(x % 113);
}

/* Whether a cell at an index of the block with ghost cells is one of the grid's, and its place there. */
static int is_in_grid(const halo_case *h, const int64_t *index, int64_t *where) {
    for (int d = 0; d < h->dimensions; d++) {
        const int64_t n = h->interior[d] * h->size[d];
        where[d] = h->at[d] * h->interior[d] + index[d] - h->width;
        if ((where[d] < 0 || where[d] >= n) && !h->is_periodic[d]) return 0;
        where[d] = (where[d] + n) % n;
    }
    return 1;
}

/* In how many dimensions it is a ghost cell. */
static int ghost_ways(const halo_case *h, const int64_t *index) {
    int ways = 0;
    for (int d = 0; d < h->dimensions; d++)
        ways += index[d] < h->width || index[d] >= h->width + h->interior[d];
    return ways;
}

/* is_done: ghost cells have been exchanged. */
static double expected_cell(const halo_case *h, const int64_t *index, size_t field, int step,
                            int is_done) {
    int64_t where[3];
    const int ways = ghost_ways(h, index), known = is_in_grid(h, index, where);
    const int comes = h->kind == HA_MPI_FACES ? ways == 1 : ways > 0;
    if (ways && !(is_done && known && comes)) return UNKNOWN;
    return cell_at(h, where, h->more ? index[h->dimensions] : 0, field, step);
}

/* All cells, one after the other; 0: there is no next one. */
static int next_index(const darray *x, int64_t *index) {
    int d = x->rank - 1;
    while (d >= 0 && ++index[d] == x->extent[d]) index[d--] = 0;
    return d >= 0;
}

static char *cell_address(dspan s, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < s.rank; d++) at += (index[d] + s.origin[d]) * s.stride[d];
    return (char *)s.data + at * (int64_t)ha_dtype_size(s.type);
}

static void write_cells(const halo_case *h, size_t f, int step) {
    int64_t index[4] = {0};
    HA_OVERWRITING_ALL(v, h->field[f], ha_host()) do {
        ha_dvalue value;
        SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_double(expected_cell(h, index, f, step, 0)),
                                   h->type[f], &value));
        SUCCEEDS(ha_dvalue_store(value, h->type[f], cell_address(v.span, index)));
    }
    while (next_index(&h->field[f], index))
        ;
}

static void compare_cells(const halo_case *h, size_t f, int step) {
    int64_t index[4] = {0}, wrong = 0;
    HA_WRITING(v, h->field[f], ha_host()) do {
        const ha_dvalue value = ha_dvalue_load(h->type[f], cell_address(v.span, index));
        wrong += !ha_dvalue_equal(value, ha_dvalue_of_double(expected_cell(h, index, f, step, 1)));
    }
    while (next_index(&h->field[f], index))
        ;
    if (wrong)
        complain(__LINE__, "field %zu, step %d: %lld cells are wrong", f, step, (long long)wrong);
}

static darray some_field(const halo_case *h, size_t f) {
    ha_shape shape = {.rank = h->dimensions + h->more,
                      .order = draw(2) ? HA_ROW_MAJOR : HA_COLUMN_MAJOR};
    for (int d = 0; d < h->dimensions; d++) {
        shape.extent[d] = h->interior[d];
        shape.ghost_low[d] = shape.ghost_high[d] = h->width;
    }
    if (h->more) shape.extent[h->dimensions] = h->last;
    return darray_make(h->type[f], &shape, places[draw(PLACES)]);
}

static halo_case some_halo(int kind) {
    static const ha_dtype types[] = {HA_DTYPE_double, HA_DTYPE_float, HA_DTYPE_double};
    halo_case h = {.dimensions = 1 + (int)draw(3), .kind = kind, .more = (int)draw(2)};
    h.width = 1 + draw(2);
    h.last = 1 + draw(3);
    h.fields = 1 + (size_t)draw(MOST_FIELDS);
    for (int d = 0; d < h.dimensions; d++) {
        h.is_periodic[d] = (int)draw(2);
        h.interior[d] = h.width + draw(5);
    }
    MPI_Dims_create(ranks, h.dimensions, h.size);
    MPI_Cart_create(WORLD, h.dimensions, h.size, h.is_periodic, 0, &h.cart);
    MPI_Cart_get(h.cart, h.dimensions, h.size, h.is_periodic, h.at);
    random_state += (uint64_t)me; /* orders and places may be different */
    for (size_t f = 0; f < h.fields; f++) {
        h.type[f] = types[f];
        h.field[f] = some_field(&h, f);
    }
    return h;
}

static void some_halos(int kind, int rounds) {
    for (int r = 0; r < rounds; r++) {
        halo_case h = some_halo(kind);
        ha_mpi_halo *halo = ha_mpi_halo_new(h.cart, places[draw(PLACES)], h.width, h.field,
                                            h.fields, kind);
        IS_TRUE(halo);
        for (int step = 0; step < 3 && halo; step++) {
            for (size_t f = 0; f < h.fields; f++) write_cells(&h, f, step);
            for (size_t f = 0; f < h.fields; f++)
                SUCCEEDS(darray_prefetch(h.field[f], places[draw(PLACES)]));
            SUCCEEDS(ha_mpi_halo_start(halo));
            SUCCEEDS(ha_mpi_halo_finish(halo));
            for (size_t f = 0; f < h.fields; f++) compare_cells(&h, f, step);
        }
        ha_mpi_halo_free(halo);
        for (size_t f = 0; f < h.fields; f++) SUCCEEDS(darray_free(&h.field[f]));
        MPI_Comm_free(&h.cart);
        draw_together();
    }
    end_case(kind == HA_MPI_CORNERS ? "halos with corners"
             : kind == HA_MPI_FACES ? "halos of faces"
                                    : "halos at once");
}

/* ---- taking turns ------------------------------------------------------------------------------ */

/* Two arrays take turns, and two plans are under way at the same time. */
static void halos_by_turns(void) {
    int size[2] = {0, 0}, is_periodic[2] = {1, 1};
    halo_case h = {.dimensions = 2, .kind = HA_MPI_CORNERS, .width = 1, .fields = 1};
    MPI_Dims_create(ranks, 2, size);
    MPI_Cart_create(WORLD, 2, size, is_periodic, 0, &h.cart);
    MPI_Cart_get(h.cart, 2, h.size, h.is_periodic, h.at);
    h.interior[0] = 3;
    h.interior[1] = 4;
    h.type[0] = HA_DTYPE_double;
    const ha_shape shape = {.rank = 2, .extent = {3, 4}, .ghost_low = {1, 1}, .ghost_high = {1, 1}};
    darray x[2] = {darray_make(HA_DTYPE_double, &shape, places[1]),
                   darray_make(HA_DTYPE_double, &shape, places[1])};
    ha_mpi_halo *halo = ha_mpi_halo_new(h.cart, places[1], 1, &x[0], 1, HA_MPI_CORNERS);
    ha_mpi_halo *other = ha_mpi_halo_new(h.cart, ha_host(), 1, &x[1], 1, HA_MPI_CORNERS);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 2; i++) {
            h.field[0] = x[i];
            write_cells(&h, 0, step + i);
        }
        SUCCEEDS(ha_mpi_halo_rebind(halo, &x[step % 2], 1));
        SUCCEEDS(ha_mpi_halo_rebind(other, &x[1 - step % 2], 1));
        SUCCEEDS(ha_mpi_halo_start(halo));
        SUCCEEDS(ha_mpi_halo_start(other));
        HA_READING(v, x[0], places[2]) {} /* the fields are free meanwhile */
        SUCCEEDS(ha_mpi_halo_finish(other));
        SUCCEEDS(ha_mpi_halo_finish(halo));
        for (int i = 0; i < 2; i++) {
            h.field[0] = x[i];
            compare_cells(&h, 0, step + i);
        }
    }
    ha_mpi_halo_free(halo);
    ha_mpi_halo_free(other);
    for (int i = 0; i < 2; i++) SUCCEEDS(darray_free(&x[i]));
    MPI_Comm_free(&h.cart);
    end_case("halos by turns");
}

/* ---- one array, and elements of the user's own type ---------------------------------------------- */

static void bytes_of(darray x, unsigned char *bytes, int writes) {
    HA_WRITING(v, x, ha_host()) {
        if (writes)
            memcpy(v.span.data, bytes, 60 * sizeof(odd));
        else
            memcpy(bytes, v.span.data, 60 * sizeof(odd));
    }
}

/* Two fields that are columns of one array, whose rows are all that has ghost cells. */
static void halos_of_columns(void) {
    enum { ROW = 10 * sizeof(odd) };
    int size[1] = {ranks}, is_periodic[1] = {1};
    unsigned char bytes[6][ROW];
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    for (int i = 0; i < 6; i++) memset(bytes[i], 10 * me + i, ROW);
    darray x = darray_new_(HA_ROW_MAJOR, ha_type_of_("odd", sizeof(odd)), 2, (int64_t[]){6, 10},
                           ha_host());
    bytes_of(x, bytes[0], 1);
    const darray columns[] = {darray_slice(x, 1, 0, 4, 1), darray_slice(x, 1, 4, 10, 1)};
    ha_mpi_halo *halo = ha_mpi_halo_new(ring, places[1], 1, columns, 2, HA_MPI_FACES);
    SUCCEEDS(ha_mpi_halo_start(halo));
    SUCCEEDS(ha_mpi_halo_finish(halo));
    bytes_of(x, bytes[0], 0);
    for (int k = 0; k < (int)ROW; k++) {
        IS_TRUE(bytes[0][k] == (unsigned char)(10 * ((me + ranks - 1) % ranks) + 4));
        IS_TRUE(bytes[5][k] == (unsigned char)(10 * ((me + 1) % ranks) + 1));
        IS_TRUE(bytes[4][k] == (unsigned char)(10 * me + 4));
    }
    ha_mpi_halo_free(halo);
    SUCCEEDS(darray_free(&x));
    MPI_Comm_free(&ring);
    end_case("halos of columns");
}

/* ---- who waits --------------------------------------------------------------------------------- */

static int may_end, has_ended_freely; /* atomic */

/* Ends when it may; after a minute in any case, so that a test fails in which somebody waits for it. */
static void linger(const ha_queue *queue, void *argument) {
    const uint64_t until = ha_now() + (uint64_t)60 * 1000000000;
    (void)queue;
    (void)argument;
    while (!__atomic_load_n(&may_end, __ATOMIC_ACQUIRE) && ha_now() < until) sched_yield();
    __atomic_store_n(&has_ended_freely, __atomic_load_n(&may_end, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
}

static void begin_lingering(void) {
    may_end = has_ended_freely = 0;
    SUCCEEDS(ha_enqueue(places[1], linger, NULL, 0));
}

static void end_lingering(void) {
    __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE);
    SUCCEEDS(ha_context_finish(places[1]));
    IS_TRUE(has_ended_freely);
}

/* What has been enqueued behind start is not waited for by finish, nor is by start what has been enqueued behind the finish
 * before; and the ghost cells are right all the same. */
static void halos_that_do_not_wait(int kind) {
    int size[1] = {ranks}, is_periodic[1] = {1};
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    const ha_shape shape = {.rank = 1, .extent = {100}, .ghost_low = {1}, .ghost_high = {1}};
    array_double_1 x = array_double_1_make(&shape, places[1]);
    const darray field = HA_DARRAY(x);
    ha_mpi_halo *halo = ha_mpi_halo_new(ring, places[1], 1, &field, 1, kind);
    for (int step = 0; step < 3; step++) {
        SUCCEEDS(array_double_1_fill(array_double_1_interior(x), 10 * step + me, places[1]));
        if (step) begin_lingering();
        SUCCEEDS(ha_mpi_halo_start(halo));
        if (step) end_lingering();
        begin_lingering();
        SUCCEEDS(ha_mpi_halo_finish(halo));
        end_lingering();
        double low = -1, high = -1;
        SUCCEEDS(array_double_1_get(x, HA_DIM(-1), &low));
        SUCCEEDS(array_double_1_get(x, HA_DIM(100), &high));
        IS_TRUE(low == 10 * step + (me + ranks - 1) % ranks);
        IS_TRUE(high == 10 * step + (me + 1) % ranks);
    }
    ha_mpi_halo_free(halo);
    SUCCEEDS(array_double_1_free(&x));
    MPI_Comm_free(&ring);
    end_case("halos that do not wait for what is none of theirs");
}

/* ---- what is moved ------------------------------------------------------------------------------ */

/* On a device only the cells of faces are moved, each once in each direction; on the host nothing is. */
static void moved_by_halos(void) {
    int size[1] = {ranks}, is_periodic[1] = {1};
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    for (int p = 0; p < 2; p++) {
        const ha_shape shape = {.rank = 2, .extent = {6, 10}, .ghost_low = {1}, .ghost_high = {1}};
        darray x = darray_make(HA_DTYPE_float, &shape, places[p]);
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(1), places[p]));
        ha_mpi_halo *halo = ha_mpi_halo_new(ring, places[p], 1, &x, 1, HA_MPI_FACES);
        const ha_statistics was = ha_array_statistics(x.array);
        const ha_mpi_traffic before = ha_mpi_traffic_so_far();
        for (int step = 0; step < 5; step++) {
            SUCCEEDS(ha_mpi_halo_start(halo));
            SUCCEEDS(ha_mpi_halo_finish(halo));
        }
        const ha_mpi_traffic after = ha_mpi_traffic_so_far();
        IS_TRUE(after.messages_sent - before.messages_sent == 10);
        IS_TRUE(after.messages_received - before.messages_received == 10);
        IS_TRUE(after.bytes_sent - before.bytes_sent == 10 * 40);
        IS_TRUE(after.packed_bytes - before.packed_bytes == 2 * 10 * 40);
        IS_TRUE(after.staged_bytes - before.staged_bytes == (p && !is_aware ? 2 * 10 * 40 : 0));
        IS_TRUE(ha_array_statistics(x.array).bytes == was.bytes);
        ha_mpi_halo_free(halo);
        SUCCEEDS(darray_free(&x));
    }
    MPI_Comm_free(&ring);
    end_case("what halos move");
}

#endif
