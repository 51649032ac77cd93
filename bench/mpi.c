/* Messages and halos of harray_mpi.h beside MPI itself, between two ranks: as it is given contiguous memory, buffers
 * that are packed by loops, and derived datatypes.
 *
 *     mpiexec -n 2 mpi [OPTION…]
 *
 * Rank 0 says what is done how often, does it with rank 1, and prints. README.md here says what it measures. */
#define HARRAY_IMPLEMENTATION
#include "../harray_mpi.h"

#include "bench.h"

enum { ROWS = 1024, COLUMNS = 128, WIDE = 2 * COLUMNS, SIDE = 128, PADDED = SIDE + 2, FACES = 6 };

static int me;

typedef struct work {
    array_double_1 few, many; /* 8 bytes, and 1 MiB */
    array_double_2 part;      /* 1 MiB in rows of half the length */
    double *plain, *buffer;   /* as `part` is a part of, and packed */
    MPI_Datatype rows;
    MPI_Comm cart;
    array_double_3 cube;
    ha_mpi_halo *halo;
    double *grid, *sent[FACES], *received[FACES];
    MPI_Datatype inner[FACES], ghost[FACES];
    int peer[FACES];
} work;

/* ---- there and back ------------------------------------------------------------------------------ */

#define THERE_AND_BACK(name, sending, receiving)                                                   \
    static void name(work *w) {                                                                    \
        const int other = 1 - me;                                                                  \
        if (me == 0) sending;                                                                      \
        receiving;                                                                                 \
        if (me == 1) sending;                                                                      \
    }
#define NEEDED(call) bench_require((call) == HA_OK, #call)

static void raw_send(const void *data, int n, MPI_Datatype type, int to) {
    bench_require(MPI_Send(data, n, type, to, 1, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Send");
}
static void raw_receive(void *data, int n, MPI_Datatype type, int from) {
    MPI_Status status;
    bench_require(MPI_Recv(data, n, type, from, 1, MPI_COMM_WORLD, &status) == MPI_SUCCESS,
                  "MPI_Recv");
}

THERE_AND_BACK(few_by_views, NEEDED(ha_mpi_send(w->few, other, 1, MPI_COMM_WORLD)),
               NEEDED(ha_mpi_recv(w->few, other, 1, MPI_COMM_WORLD)))
THERE_AND_BACK(few_by_hand, raw_send(w->plain, 1, MPI_DOUBLE, other),
               raw_receive(w->plain, 1, MPI_DOUBLE, other))
THERE_AND_BACK(many_by_views, NEEDED(ha_mpi_send(w->many, other, 1, MPI_COMM_WORLD)),
               NEEDED(ha_mpi_recv(w->many, other, 1, MPI_COMM_WORLD)))
THERE_AND_BACK(many_by_hand, raw_send(w->plain, ROWS *COLUMNS, MPI_DOUBLE, other),
               raw_receive(w->plain, ROWS *COLUMNS, MPI_DOUBLE, other))
THERE_AND_BACK(part_by_views, NEEDED(ha_mpi_send(w->part, other, 1, MPI_COMM_WORLD)),
               NEEDED(ha_mpi_recv(w->part, other, 1, MPI_COMM_WORLD)))
THERE_AND_BACK(part_by_type, raw_send(w->plain, 1, w->rows, other),
               raw_receive(w->plain, 1, w->rows, other))

/* A row at a time. */
static void pack_rows(double *buffer, const double *plain) {
    for (size_t i = 0; i < ROWS; i++)
        memcpy(buffer + i * COLUMNS, plain + i * WIDE, COLUMNS * sizeof *plain);
}
static void unpack_rows(const double *buffer, double *plain) {
    for (size_t i = 0; i < ROWS; i++)
        memcpy(plain + i * WIDE, buffer + i * COLUMNS, COLUMNS * sizeof *plain);
}
static void send_rows(work *w, int other) {
    pack_rows(w->buffer, w->plain);
    raw_send(w->buffer, ROWS * COLUMNS, MPI_DOUBLE, other);
}
static void receive_rows(work *w, int other) {
    raw_receive(w->buffer, ROWS * COLUMNS, MPI_DOUBLE, other);
    unpack_rows(w->buffer, w->plain);
}
THERE_AND_BACK(part_by_hand, send_rows(w, other), receive_rows(w, other))

/* ---- halos ---------------------------------------------------------------------------------------- */

static void halo_by_plan(work *w) {
    NEEDED(ha_mpi_halo_start(w->halo));
    NEEDED(ha_mpi_halo_finish(w->halo));
}

/* The cells of a face: the first or the last inner layer, or the ghost cells beyond. */
static int64_t layer_of(int face, int is_ghost) {
    return face % 2 ? (is_ghost ? PADDED - 1 : SIDE) : (is_ghost ? 0 : 1);
}

static double *cell(work *w, int face, int is_ghost, int64_t i, int64_t j) {
    const int64_t l = layer_of(face, is_ghost);
    const int64_t x = face / 2 == 0 ? l : i, y = face / 2 == 1 ? l : face / 2 == 0 ? i : j;
    const int64_t z = face / 2 == 2 ? l : j;
    return &w->grid[(x * PADDED + y) * PADDED + z];
}

/* Rows by memcpy, where they are rows. */
static void move_face(work *w, int face, double *buffer, int is_ghost) {
    for (int64_t i = 0; i < SIDE; i++) {
        double *row = cell(w, face, is_ghost, i + 1, 1), *at = buffer + i * SIDE;
        if (face / 2 < 2 && is_ghost) {
            memcpy(row, at, SIDE * sizeof *row);
        } else if (face / 2 < 2) {
            memcpy(at, row, SIDE * sizeof *row);
        } else {
            for (int64_t j = 0; j < SIDE; j++) {
                if (is_ghost)
                    row[j * PADDED] = at[j];
                else
                    at[j] = row[j * PADDED];
            }
        }
    }
}

static void halo_by_hand(work *w) {
    MPI_Request r[2 * FACES];
    MPI_Status status[2 * FACES];
    for (int f = 0; f < FACES; f++)
        MPI_Irecv(w->received[f], SIDE * SIDE, MPI_DOUBLE, w->peer[f], f ^ 1, w->cart, &r[f]);
    for (int f = 0; f < FACES; f++) {
        move_face(w, f, w->sent[f], 0);
        MPI_Isend(w->sent[f], SIDE * SIDE, MPI_DOUBLE, w->peer[f], f, w->cart, &r[FACES + f]);
    }
    MPI_Waitall(2 * FACES, r, status);
    for (int f = 0; f < FACES; f++) move_face(w, f, w->received[f], 1);
}

static void halo_by_types(work *w) {
    MPI_Request r[2 * FACES];
    MPI_Status status[2 * FACES];
    for (int f = 0; f < FACES; f++)
        MPI_Irecv(w->grid, 1, w->ghost[f], w->peer[f], f ^ 1, w->cart, &r[f]);
    for (int f = 0; f < FACES; f++)
        MPI_Isend(w->grid, 1, w->inner[f], w->peer[f], f, w->cart, &r[FACES + f]);
    MPI_Waitall(2 * FACES, r, status);
}

/* ---- in turns -------------------------------------------------------------------------------------- */

typedef void operation(work *w);
static operation *const operations[] = {few_by_views,  few_by_hand,  many_by_views, many_by_hand,
                                        part_by_views, part_by_hand, part_by_type,  halo_by_plan,
                                        halo_by_hand,  halo_by_types};
enum { OPERATIONS = sizeof operations / sizeof *operations };

typedef struct task {
    work *w;
    int number;
} task;

static double time_task(void *data, size_t count) {
    const task *t = (const task *)data;
    int64_t said[2] = {t->number, (int64_t)count};
    MPI_Bcast(said, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now();
    for (size_t k = 0; k < count; k++) operations[t->number](t->w);
    return bench_now() - start;
}

/* What rank 0 says, until it says no more. */
static void follow(work *w) {
    for (;;) {
        int64_t said[2];
        MPI_Bcast(said, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (said[0] < 0) return;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int64_t k = 0; k < said[1]; k++) operations[said[0]](w);
    }
}

static void lead(work *w, int argc, char **argv) {
    static const struct {
        const char *name, *reference;
        int ours, theirs;
        double bound;
        size_t bytes;
    } figures[] = {
        {"8 bytes, there and back", "MPI_Send, MPI_Recv", 0, 1, 0, 0},
        {"1 MiB, there and back", "MPI_Send, MPI_Recv", 2, 3, 1.05, 2 << 20},
        {"1 MiB in rows, there and back", "packed by hand", 4, 5, 1.05, 2 << 20},
        {"1 MiB in rows, there and back", "MPI_Type_vector", 4, 6, 1.05, 2 << 20},
        {"six faces of 128 x 128 x 128", "packed by hand", 7, 8, 1.1, 0},
        {"six faces of 128 x 128 x 128", "MPI_Type_create_subarray", 7, 9, 1, 0},
    };
    task tasks[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++) tasks[i] = (task){w, i};
    bench_begin(argc, argv, "host");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        bench_run(&(bench_figure){figures[i].name, time_task, &tasks[figures[i].ours],
                                  figures[i].reference, time_task, &tasks[figures[i].theirs],
                                  .bound = figures[i].bound, .bytes = figures[i].bytes});
    int64_t end[2] = {-1, 0};
    MPI_Bcast(end, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

/* ---- what they work on ------------------------------------------------------------------------------ */

static double *some_doubles(size_t n) {
    double *x = (double *)calloc(n, sizeof *x);
    bench_require(x != NULL, "memory");
    return x;
}

static MPI_Datatype face_type(int face, int is_ghost) {
    int whole[3] = {PADDED, PADDED, PADDED}, some[3] = {SIDE, SIDE, SIDE}, first[3] = {1, 1, 1};
    MPI_Datatype type;
    some[face / 2] = 1;
    first[face / 2] = (int)layer_of(face, is_ghost);
    MPI_Type_create_subarray(3, whole, some, first, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_halos(work *w) {
    int size[3] = {2, 1, 1}, is_periodic[3] = {1, 1, 1};
    const ha_shape shape = {
        .extent = {SIDE, SIDE, SIDE}, .ghost_low = {1, 1, 1}, .ghost_high = {1, 1, 1}};
    MPI_Cart_create(MPI_COMM_WORLD, 3, size, is_periodic, 0, &w->cart);
    for (int f = 0; f < FACES; f++) {
        int from;
        MPI_Cart_shift(w->cart, f / 2, f % 2 ? 1 : -1, &from, &w->peer[f]);
        w->sent[f] = some_doubles(SIDE * SIDE);
        w->received[f] = some_doubles(SIDE * SIDE);
        w->inner[f] = face_type(f, 0);
        w->ghost[f] = face_type(f, 1);
    }
    w->grid = some_doubles((size_t)PADDED * PADDED * PADDED);
    w->cube = array_double_3_make(&shape, ha_host());
    NEEDED(array_double_3_fill(w->cube, 1, ha_host()));
    const darray field = HA_DARRAY(w->cube);
    w->halo = ha_mpi_halo_new(w->cart, ha_host(), 1, &field, 1, HA_MPI_FACES);
    bench_require(w->halo != NULL, "ha_mpi_halo_new");
}

static void make_work(work *w) {
    w->few = array_double_1_zeros(HA_DIM(1), ha_host());
    w->many = array_double_1_zeros(HA_DIM(ROWS * COLUMNS), ha_host());
    w->part = array_double_2_slice(array_double_2_zeros(HA_DIM(ROWS, WIDE), ha_host()), 1, 0,
                                   COLUMNS, 1);
    w->plain = some_doubles((size_t)ROWS * WIDE);
    w->buffer = some_doubles((size_t)ROWS * COLUMNS);
    MPI_Type_vector(ROWS, COLUMNS, WIDE, MPI_DOUBLE, &w->rows);
    MPI_Type_commit(&w->rows);
    make_halos(w);
}

int main(int argc, char **argv) {
    static work w;
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_require(ranks == 2, "mpiexec -n 2");
    make_work(&w);
    if (me == 0)
        lead(&w, argc, argv);
    else
        follow(&w);
    MPI_Finalize();
    return 0;
}
