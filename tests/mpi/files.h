/* .npy files that all ranks write and read together: against known elements, by the reader of one process, and with
 * whatever can fail. */
#ifndef HARRAY_TESTS_MPI_FILES_H
#define HARRAY_TESTS_MPI_FILES_H

#include "failures.h"

static char file_path[64];

static void name_file(void) {
    long id = (long)getpid();
    MPI_Bcast(&id, 1, MPI_LONG, 0, WORLD);
    snprintf(file_path, sizeof file_path, "/tmp/harray_mpi_%ld.npy", id);
}

/* All have read it. */
static void remove_file(void) {
    MPI_Barrier(WORLD);
    if (!me) unlink(file_path);
    MPI_Barrier(WORLD);
}

/* ---- blocks of a known whole -------------------------------------------------------------------- */

/* Number k of the elements of the whole, the last index fastest, is number k of a message. */
typedef struct whole_file {
    shape_of shape;
    uint64_t salt;
} whole_file;

/* The block of the whole that begins there becomes the model of a view. */
static void model_becomes_block(sample *s, const whole_file *w, const int64_t *offset) {
    int64_t index[4] = {0};
    if (!darray_size(s->view)) return;
    for (int d = 0; d >= 0;) {
        int64_t k = 0;
        for (int e = 0; e < w->shape.rank; e++) k = k * w->shape.extent[e] + offset[e] + index[e];
        known_element((unsigned char *)model_at(s, index), s->element, s->is_bool, w->salt, k);
        for (d = s->view.rank - 1; d >= 0 && ++index[d] == s->view.extent[d]; d--) index[d] = 0;
    }
}

/* A view of a block, which may be without elements. */
static sample block_sample(const whole_file *w, const int64_t *extent) {
    shape_of shape = w->shape;
    int none = -1;
    for (int d = 0; d < shape.rank; d++) {
        shape.extent[d] = extent[d] ? extent[d] : 1;
        if (!extent[d]) none = d;
    }
    sample s = some_sample(&shape);
    if (none >= 0) s.view = darray_slice(s.view, none, s.view.origin[none], s.view.origin[none], 1);
    return s;
}

/* Rank 0 reads the file as one process does. */
static void is_the_file(const whole_file *w) {
    const int64_t begin[4] = {0};
    if (me) return;
    darray x = darray_load_npy(file_path, NULL);
    IS_TRUE(x.array);
    if (!x.array) return;
    sample s = block_sample(w, w->shape.extent);
    IS_TRUE(x.rank == w->shape.rank && !memcmp(x.extent, s.view.extent, sizeof x.extent));
    model_is_written(&s, ha_host());
    SUCCEEDS(darray_copy(s.view, x, ha_host()));
    model_becomes_block(&s, w, begin);
    is_as_modelled(&s);
    free_sample(&s);
    SUCCEEDS(darray_free(&x));
}

/* Rows of one dimension to each rank, perhaps none: the first row, and how many. All ranks draw the same. */
static void draw_rows(int64_t all, int64_t *first, int64_t *count) {
    int64_t at = 0;
    for (int r = 0; r < ranks; r++) {
        const int64_t n = r == ranks - 1 ? all - at : draw(all - at + 1);
        if (r == me) *first = at;
        if (r == me) *count = n;
        at += n;
    }
}

static void files(int rounds) {
    for (int round = 0; round < rounds; round++) {
        whole_file w = {.shape = some_shape(9), .salt = (uint64_t)round};
        w.shape.type = (int)draw(NUMBER_TYPES); /* NumPy has no others */
        const int cut = (int)draw(w.shape.rank), columns = w.shape.rank == 2 && draw(2);
        int64_t offset[4] = {0}, extent[4];
        memcpy(extent, w.shape.extent, sizeof extent);
        draw_rows(w.shape.extent[cut], &offset[cut], &extent[cut]);
        random_state += (uint64_t)me;
        sample s = block_sample(&w, extent);
        model_becomes_block(&s, &w, offset);
        model_is_written(&s, places[draw(PLACES)]);
        SUCCEEDS(ha_mpi_save(s.view, file_path, offset, WORLD));
        is_as_modelled(&s);
        is_the_file(&w);
        for (int d = 0; d < w.shape.rank; d++) { /* any block, which others may read, too */
            offset[d] = columns ? 0 : draw(w.shape.extent[d]);
            extent[d] = w.shape.extent[d] - offset[d];
        }
        extent[cut] = draw(extent[cut] + 1);
        sample t = block_sample(&w, extent);
        model_is_written(&t, places[draw(PLACES)]);
        SUCCEEDS(ha_mpi_load(t.view, file_path, offset, WORLD));
        model_becomes_block(&t, &w, offset);
        is_as_modelled(&t);
        free_sample(&s);
        free_sample(&t);
        draw_together();
    }
    remove_file();
    end_case("files of all ranks");
}

/* ---- grids -------------------------------------------------------------------------------------- */

static double number_at(int64_t i, int64_t j) { return (double)(1000 * i + j); }

/* 3 + i cells of whoever is i-th in the first dimension, 2 + j in the second. */
static MPI_Comm make_grid(int *at, int *size) {
    int periodic[2] = {0, 0};
    MPI_Comm grid;
    size[0] = size[1] = 0;
    MPI_Dims_create(ranks, 2, size);
    MPI_Cart_create(WORLD, 2, size, periodic, 0, &grid);
    MPI_Cart_get(grid, 2, size, periodic, at);
    return grid;
}

static int64_t cells_before(int base, int at) { return (int64_t)base * at + at * (at - 1) / 2; }

/* In Fortran's order, with ghost cells, on a device. */
static void files_of_a_grid(void) {
    int at[2], size[2];
    const MPI_Comm grid = make_grid(at, size);
    const int64_t n = 3 + at[0], m = 2 + at[1];
    const int64_t first[2] = {cells_before(3, at[0]), cells_before(2, at[1])};
    const int64_t whole[2] = {cells_before(3, size[0]), cells_before(2, size[1])};
    const ha_shape shape = {
        .extent = {n, m}, .ghost_low = {1, 2}, .ghost_high = {1, 2}, .order = HA_COLUMN_MAJOR};
    array_double_2 x = array_double_2_make(&shape, places[1]), own = array_double_2_interior(x);
    array_double_2 y = array_double_2_filled(HA_DIM(n, m), -1, places[2]);
    HA_OVERWRITING_ALL(v, own, ha_host())
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) HA_AT(v.span, i, j) = number_at(first[0] + i, first[1] + j);
    SUCCEEDS(darray_prefetch(HA_DARRAY(own), places[1]));
    SUCCEEDS(ha_mpi_save(own, file_path, NULL, grid));
    SUCCEEDS(ha_mpi_load(y, file_path, NULL, grid));
    int same = 0;
    SUCCEEDS(darray_equal(HA_DARRAY(own), HA_DARRAY(y), &same));
    IS_TRUE(same);
    darray z = darray_load_npy(file_path, NULL); /* each rank reads all of it */
    IS_TRUE(z.rank == 2 && z.extent[0] == whole[0] && z.extent[1] == whole[1]);
    IS_TRUE(darray_is_contiguous(z, HA_COLUMN_MAJOR)); /* as rank 0 has it */
    for (int64_t i = 0; i < whole[0] && z.array; i++) {
        ha_dvalue value;
        SUCCEEDS(darray_get(z, 2, (int64_t[]){i, i % whole[1]}, &value));
        IS_TRUE(value.as_double == number_at(i, i % whole[1]));
    }
    remove_file();
    SUCCEEDS(darray_free(&z));
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&y));
    MPI_Comm grid_again = grid;
    MPI_Comm_free(&grid_again);
    end_case("files of a grid of ranks");
}

/* Numbers with their bytes in the other order, and what is true in other ways. */
static void files_of_others(void) {
    const int32_t number[4] = {0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10};
    const unsigned char truth[4] = {0, 7, 255, 1};
    darray x = darray_zeros(HA_DTYPE_int32_t, 2, (int64_t[]){1, 2}, places[1]);
    darray y = darray_zeros(HA_DTYPE_bool, 1, (int64_t[]){4}, places[1]);
    ha_dvalue value = {.type = HA_DTYPE_NONE};
    ha_access v;
    for (int kind = 0; kind < 2; kind++) {
        ha_npy_header h = {.type = kind ? HA_DTYPE_bool : HA_DTYPE_int32_t, .swapped = !kind};
        char head[HA_NPY_MOST_BYTES];
        h.rank = kind ? 1 : 2;
        h.extent[0] = kind ? 4 : 2;
        h.extent[1] = kind ? 0 : 2;
        SUCCEEDS(ha_npy_print(&h, head, sizeof head));
        FILE *file = me ? NULL : fopen(file_path, "w");
        if (file) fwrite(head, 1, h.bytes, file);
        if (file) fwrite(kind ? (const void *)truth : number, kind ? 1 : 4, 4, file);
        if (file) fclose(file);
        if (kind)
            SUCCEEDS(ha_mpi_load(y, file_path, (int64_t[]){0}, WORLD));
        else
            SUCCEEDS(ha_mpi_load(x, file_path, ((int64_t[]){me % 2, 0}), WORLD));
        MPI_Barrier(WORLD);
    }
    SUCCEEDS(darray_get(x, 2, (int64_t[]){0, 1}, &value));
    IS_TRUE(value.as_int32_t == (me % 2 ? 0x100f0e0d : 0x08070605));
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open_view(&v, y, ha_host(), HA_READ));
    for (int i = 0; i < 4; i++) IS_TRUE(((const unsigned char *)v.data)[i] == (i > 0));
    SUCCEEDS(ha_close(&v));
    remove_file();
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&y));
    end_case("files of other machines");
}

/* No rank has any. */
static void files_without_elements(void) {
    darray x = darray_zeros(HA_DTYPE_int32_t, 2, (int64_t[]){0, 4}, places[1]);
    SUCCEEDS(ha_mpi_save(x, file_path, ((int64_t[]){0, 0}), WORLD));
    SUCCEEDS(ha_mpi_load(x, file_path, ((int64_t[]){0, 0}), WORLD));
    darray y = darray_load_npy(file_path, NULL);
    IS_TRUE(y.rank == 2 && y.extent[0] == 0 && y.extent[1] == 4);
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&y));
    remove_file();
    end_case("files without elements");
}

/* More than MPI counts in one dimension, in a file that takes no room: each rank reads what lies across its limit. */
static void files_of_large_extents(void) {
    static const int8_t across[2][4] = {{11, 21, 31, 41}, {12, 22, 32, 42}};
    const int64_t limit = INT_MAX;
    ha_npy_header h = {.type = HA_DTYPE_int8_t, .rank = 2, .extent = {2, limit + 3}};
    char head[HA_NPY_MOST_BYTES];
    int8_t numbers[2][4] = {{0}};
    SUCCEEDS(ha_npy_print(&h, head, sizeof head));
    FILE *file = me ? NULL : fopen(file_path, "w");
    if (file) IS_TRUE(fwrite(head, 1, h.bytes, file) == h.bytes && !fflush(file));
    for (int row = 0; row < 2 && file; row++) {
        const off_t end = (off_t)h.bytes + (row + 1) * (off_t)h.extent[1];
        IS_TRUE(pwrite(fileno(file), across[row], 4, end - 5) == 4);
        IS_TRUE(!ftruncate(fileno(file), end));
    }
    if (file) fclose(file);
    darray x = darray_zeros(HA_DTYPE_int8_t, 2, (int64_t[]){2, 4}, places[1]);
    SUCCEEDS(ha_mpi_load(x, file_path, ((int64_t[]){0, limit - 2}), WORLD));
    for (int k = 0; k < 8; k++) {
        ha_dvalue value = {.type = HA_DTYPE_NONE};
        SUCCEEDS(darray_get(x, 2, (int64_t[]){k / 4, k % 4}, &value));
        numbers[k / 4][k % 4] = value.as_int8_t;
    }
    IS_TRUE(!memcmp(numbers, across, sizeof across));
    SUCCEEDS(darray_free(&x));
    remove_file();
    end_case("files of large extents");
}

/* ---- Open MPI's transfers ----------------------------------------------------------------------- */

/* Each rank reads as many columns from the first one on as it has for a number: Open MPI 4.1.4 gives the last ones to nobody
 * when all of them transfer together. Those transfers lose what is written, too, though seldom: none is made. */
static void files_that_all_read(void) {
    const int64_t columns = me % 4;
    int same = 0;
    collective_transfers = 0;
    darray all = darray_new(HA_DTYPE_int32_t, 2, (int64_t[]){2, 3}, places[1]);
    for (int k = 0; k < 6; k++)
        SUCCEEDS(darray_set(all, 2, (int64_t[]){k / 3, k % 3}, ha_dvalue_of_double(k + 1)));
    const darray mine = me ? darray_slice(all, 0, 0, 0, 1) : all;
    SUCCEEDS(ha_mpi_save(mine, file_path, ((int64_t[]){0, 0}), WORLD));
    darray x = darray_zeros(HA_DTYPE_int32_t, 2, (int64_t[]){2, 3}, places[2]);
    const darray part = darray_slice(x, 1, 0, columns, 1);
    SUCCEEDS(ha_mpi_load(part, file_path, ((int64_t[]){0, 0}), WORLD));
    SUCCEEDS(darray_equal(part, darray_slice(all, 1, 0, columns, 1), &same));
    IS_TRUE(same);
#ifdef OPEN_MPI
    IS_TRUE(!collective_transfers);
#else
    IS_TRUE(collective_transfers == 2);
#endif
    SUCCEEDS(darray_free(&all));
    SUCCEEDS(darray_free(&x));
    remove_file();
    end_case("files that all ranks read");
}

/* ---- what is wrong with one rank ----------------------------------------------------------------- */

/* What a call has come to where one rank is to be refused: there it is told what, and the others whose fault it is. */
static void is_refused(int line, int who, ha_status s, ha_status expected, const char *words) {
    char others[40];
    const ha_error e = ha_take_error();
    snprintf(others, sizeof others, "rank %d has failed", who);
    if (s != (me == who ? expected : HA_ERR_LOST) || !strstr(e.text, me == who ? words : others))
        complain(line, "%s, %s", ha_status_name(s), e.text);
    IS_TRUE(strstr(e.text, "files.h:"));
}
#define REFUSES(who, expected, words, call) is_refused(__LINE__, who, call, expected, words)

/* An older file of 3 rows for each rank, each with its number. */
static darray save_older(void) {
    darray x = darray_new(HA_DTYPE_float, 2, (int64_t[]){3, 4}, places[1]);
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(me), places[1]));
    SUCCEEDS(ha_mpi_save(x, file_path, ((int64_t[]){3 * me, 0}), WORLD));
    return x;
}

/* Nothing has changed, and nothing is locked or left. */
static void is_older(darray x) {
    darray y = darray_zeros(HA_DTYPE_float, 2, (int64_t[]){3, 4}, ha_host());
    int same = 0;
    SUCCEEDS(ha_mpi_load(y, file_path, ((int64_t[]){3 * me, 0}), WORLD));
    SUCCEEDS(darray_equal(x, y, &same));
    IS_TRUE(same);
    SUCCEEDS(darray_fill(y, ha_dvalue_of_double(me), ha_host()));
    SUCCEEDS(darray_equal(x, y, &same));
    IS_TRUE(same);
    SUCCEEDS(darray_free(&y));
    MPI_Barrier(WORLD);
}

static ha_status save_at(darray x, int64_t row, int64_t column) {
    return ha_mpi_save(x, file_path, ((int64_t[]){row, column}), WORLD);
}

static ha_status load_at(darray x, int64_t row, int64_t column) {
    return ha_mpi_load(x, file_path, ((int64_t[]){row, column}), WORLD);
}

/* Of what all ranks can see each is told. */
static void blocks_that_do_not_fit(void) {
    darray x = save_older();
    darray other = darray_zeros(HA_DTYPE_int32_t, 2, (int64_t[]){3, 4}, ha_host());
    const int last = ranks - 1, is_odd = me == last;
    FAILS(HA_ERR_ARGUMENT, "rank 0 has elements of type float",
          save_at(is_odd ? other : x, 3 * me, 0));
    FAILS(HA_ERR_ARGUMENT, "rank 0 has a view of 2 dimensions",
          save_at(is_odd ? darray_fix(x, 0, 0) : x, 3 * me, 0));
    FAILS(HA_ERR_ARGUMENT, "elements, and their whole (", save_at(x, 3 * me + is_odd, 0));
    FAILS(HA_ERR_ARGUMENT, "ends beyond 63 bits", save_at(x, is_odd ? INT64_MAX - 1 : 3 * me, 0));
    FAILS(HA_ERR_MEMORY, "overflows", save_at(x, is_odd ? INT64_MAX / 2 : 3 * me, 0));
    FAILS(HA_ERR_ARGUMENT, "communicator is none of MPI_Cart_create",
          ha_mpi_save(x, file_path, NULL, WORLD));
    FAILS(HA_ERR_ARGUMENT, me >= last - 1 ? "in common" : "elements, and their whole (",
          save_at(x, is_odd ? 3 * me - 1 : 3 * me, 0));
    is_older(x);
    SUCCEEDS(darray_free(&other));
    SUCCEEDS(darray_free(&x));
    remove_file();
    end_case("blocks that do not fit together");
}

/* One rank is refused. */
static void files_that_are_refused(void) {
    darray x = save_older(), none = darray_new(HA_DTYPE_float, 2, (int64_t[]){3, 4}, ha_host());
    darray big = darray_zeros(HA_DTYPE_bfloat16, 2, (int64_t[]){3, 4}, ha_host());
    darray whole = darray_zeros(HA_DTYPE_int32_t, 2, (int64_t[]){3, 4}, ha_host());
    darray again = darray_broadcast(darray_fix(x, 0, 0), 2, (int64_t[]){3, 4});
    particles r = particles_new(HA_DIM(3, 4));
    const int who = ranks - 1, is_odd = me == who;
    ha_access v;
    memset(&v, 0, sizeof v);
    REFUSES(who, HA_ERR_ARGUMENT, "path is NULL",
            ha_mpi_save(x, is_odd ? NULL : file_path, ((int64_t[]){3 * me, 0}), WORLD));
    REFUSES(who, HA_ERR_STATE, "never written", save_at(is_odd ? none : x, 3 * me, 0));
    REFUSES(who, HA_ERR_ARGUMENT, "offset of -1 in dimension 1", save_at(x, 3 * me, -is_odd));
    REFUSES(who, HA_ERR_UNSUPPORTED, "no bfloat16", save_at(is_odd ? big : x, 3 * me, 0));
    const ha_mpi_part field = is_odd ? HA_MPI_FIELDS(r.records, "mass", ha_box2(0, 3, 0, 4))
                                     : HA_MPI_PART(x);
    REFUSES(who, HA_ERR_UNSUPPORTED, "fields of records",
            ha_mpi_save(field, file_path, ((int64_t[]){3 * me, 0}), WORLD));
    REFUSES(who, HA_ERR_ARGUMENT, "repeats elements", load_at(is_odd ? again : x, 3 * me, 0));
    REFUSES(who, HA_ERR_ARGUMENT, "elements of type float, the view of type int32_t",
            load_at(is_odd ? whole : x, 3 * me, 0));
    REFUSES(who, HA_ERR_ARGUMENT, "does not fit", load_at(x, 3 * me + is_odd, 0));
    REFUSES(who, HA_ERR_ARGUMENT, "does not fit", load_at(x, 3 * me, is_odd * 5));
    SUCCEEDS(ha_open_view(&v, x, places[1], HA_READ));
    if (!is_odd) SUCCEEDS(ha_close(&v));
    REFUSES(who, HA_ERR_CONFLICT, "", load_at(x, 3 * me, 0));
    if (is_odd) SUCCEEDS(ha_close(&v));
    SUCCEEDS(ha_mpi_load(x, file_path, ((int64_t[]){3 * me, 0}), WORLD));
    is_older(x);
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&none));
    SUCCEEDS(darray_free(&big));
    SUCCEEDS(darray_free(&whole));
    particles_free(&r);
    remove_file();
    end_case("files that one rank is refused");
}

/* Rank 0 makes the file, and looks at it. */
static void files_that_cannot_be(void) {
    char nowhere[100];
    darray x = save_older();
    const int64_t offset[] = {3 * me, 0};
    int at[2], size[2];
    MPI_Comm grid = make_grid(at, size), apart, between;
    snprintf(nowhere, sizeof nowhere, "%s/u.npy", file_path);
    REFUSES(0, HA_ERR_ARGUMENT, "cannot be written", ha_mpi_save(x, nowhere, offset, WORLD));
    REFUSES(0, HA_ERR_BACKEND, "could not be written", ha_mpi_save(x, "/dev/full", offset, WORLD));
    REFUSES(0, HA_ERR_NOT_FOUND, "cannot be read", ha_mpi_load(x, nowhere, offset, WORLD));
    REFUSES(0, HA_ERR_ARGUMENT, "", ha_mpi_load(x, "/proc/self/exe", offset, WORLD));
    FAILS(HA_ERR_ARGUMENT, "has 2 dimensions, the view 1",
          ha_mpi_load(darray_fix(x, 0, 0), file_path, offset, WORLD));
    FAILS(HA_ERR_ARGUMENT, "has 1 dimensions, the communicator 2",
          ha_mpi_load(darray_fix(x, 0, 0), file_path, NULL, grid));
    FAILS(HA_ERR_ARGUMENT, "of blocks that end at (",
          ha_mpi_load(darray_slice(x, 1, 0, 2, 1), file_path, NULL, grid));
    FAILS(HA_ERR_ARGUMENT, "MPI_COMM_NULL", ha_mpi_load(x, file_path, NULL, MPI_COMM_NULL));
    MPI_Comm_split(WORLD, me % 2, 0, &apart);
    MPI_Intercomm_create(apart, 0, WORLD, 1 - me % 2, 1, &between);
    if (!is_checked)
        FAILS(HA_ERR_ARGUMENT, "intercommunicator", ha_mpi_save(x, file_path, offset, between));
    is_older(x);
    if (!me) IS_TRUE(!truncate(file_path, 200));
    REFUSES(0, HA_ERR_ARGUMENT, "is cut", ha_mpi_load(x, file_path, offset, WORLD));
    SUCCEEDS(darray_free(&x));
    MPI_Comm_free(&between);
    MPI_Comm_free(&apart);
    MPI_Comm_free(&grid);
    remove_file();
    end_case("files that cannot be");
}

/* ---- what fails ---------------------------------------------------------------------------------- */

/* Whether the file has `old` or `new` everywhere. */
static double number_in_file(const char *path) {
    ha_dvalue value = {.type = HA_DTYPE_NONE};
    darray x = darray_load_npy(path, NULL);
    SUCCEEDS(darray_get(x, 2, (int64_t[]){1, 2}, &value));
    SUCCEEDS(darray_free(&x));
    return value.as_double;
}

/* Of a file of one rank everything of MPI's fails once: the older one stays, and so does the view. */
static void files_without_mpi(void) {
    char own[80];
    const int64_t offset[2] = {0, 0}, n = 2000; /* more than one number counts here */
    const MPI_Comm self = MPI_COMM_SELF;
    int replaced = 0;
    snprintf(own, sizeof own, "%s.%d", file_path, me);
    array_double_2 x = array_double_2_filled(HA_DIM(n, 3), 1, places[1]);
    SUCCEEDS(ha_mpi_save(x, own, offset, self));
    for (int loads = 0; loads < 2; loads++)
        for (int after = 0, hit = 1; hit; after++) {
            double value = 0;
            SUCCEEDS(array_double_2_fill(x, 2 + after, places[1]));
            mpi_arm(after);
            const ha_status s = loads ? ha_mpi_load(x, own, offset, self)
                                      : ha_mpi_save(x, own, offset, self);
            is_told_of_mpi(s);
            hit = mpi_has_failed;
            SUCCEEDS(array_double_2_get(x, HA_DIM(n - 1, 1), &value));
            IS_TRUE(value == (loads && !s ? 1 : 2 + after));
            if (loads) continue;
            const double saved = number_in_file(own);
            IS_TRUE(saved == 2 + after || (s && saved == 1));
            replaced += saved != 1;
            SUCCEEDS(array_double_2_fill(x, 1, places[1]));
            SUCCEEDS(ha_mpi_save(x, own, offset, self));
        }
    IS_TRUE(replaced == 2); /* the last one, and before that it could not be told any more */
    mpi_transfers_less = 1;
    FAILS(HA_ERR_BACKEND, "were transferred", ha_mpi_load(x, own, offset, self));
    mpi_transfers_less = 0;
    unlink(own);
    SUCCEEDS(array_double_2_free(&x));
    end_case("files without MPI");
}

/* Rank 1 has written or read all the same. */
static void transfers_that_fail(void) {
    darray x = save_older();
    for (int loads = 0; loads < 2; loads++) {
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(me + 1), places[1]));
        mpi_transfer_fails = me == 1;
        REFUSES(1, HA_ERR_BACKEND, loads ? "reading failed" : "writing failed",
                loads ? load_at(x, 3 * me, 0) : save_at(x, 3 * me, 0));
        mpi_transfer_fails = 0;
        ha_dvalue value = {.type = HA_DTYPE_NONE};
        SUCCEEDS(darray_get(x, 2, (int64_t[]){1, 1}, &value));
        IS_TRUE(value.as_float == (float)(me + 1));
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(me), places[1]));
        is_older(x);
    }
    SUCCEEDS(darray_free(&x));
    remove_file();
    end_case("transfers that fail on one rank");
}

/* Each allocation of one rank fails once. */
static void files_without_memory(void) {
    darray x = save_older();
    for (int way = 0; way < 4; way++)
        for (int after = 0, hit = 1; hit; after++) {
            const darray view = way % 2 ? darray_flip(x, 1) : x; /* by a buffer */
            arm(me == 1 ? after : -1);
            ha_status s = way < 2 ? save_at(view, 3 * me, 0) : load_at(view, 3 * me, 0);
            arm_at = -1;
            if (s && s != (me == 1 ? HA_ERR_MEMORY : HA_ERR_LOST))
                complain(__LINE__, "%s: %s", ha_status_name(s), ha_take_error().text);
            (void)ha_take_error();
            MPI_Allreduce(&was_hit, &hit, 1, MPI_INT, MPI_MAX, WORLD);
            is_older(x);
        }
    SUCCEEDS(darray_free(&x));
    remove_file();
    end_case("files without memory");
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static void all_files(int rounds) {
    name_file();
    files(rounds);
    files_of_a_grid();
    files_of_others();
    files_without_elements();
    files_of_large_extents();
    files_that_all_read();
    blocks_that_do_not_fit();
    files_that_are_refused();
    files_that_cannot_be();
    if (!is_checked) files_without_mpi();
    transfers_that_fail();
    if (!is_checked && ranks == 2)
        files_without_memory(); /* who has none takes no part in checking */
}

#endif
