/* harray_hdf5.h on the ranks of MPI, which have opened a file together. Prints TAP on rank 0.
 *
 * usage: test_hdf5_ranks [ROUNDS]      how much is tried; default: 10 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sparing.h"
#define HARRAY_IMPLEMENTATION
#define HDF5_ON_RANKS
#include "watch_hdf5.h"
#include "../../harray_hdf5.h"
#include "../mpi/checks.h"
#include "hdf5_as_it_is.h"
#include "views.h"

/* Each case gives all handles back. */
static void end_file_case(const char *name) {
    if (hdf5_open) complain(__LINE__, "%d handles are left", hdf5_open);
    end_case(name);
}

/* ---- transfers of all ranks together ----------------------------------------------------------- */

static int collective_transfers; /* of MPI, which HDF5 calls */

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *x, int n, MPI_Datatype t,
                          MPI_Status *status) {
    collective_transfers++;
    return PMPI_File_write_at_all(file, at, x, n, t, status);
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *x, int n, MPI_Datatype t,
                         MPI_Status *status) {
    collective_transfers++;
    return PMPI_File_read_at_all(file, at, x, n, t, status);
}

/* Open MPI's lose elements, so that none is made unless HDF5 has no other way. (Of what is small HDF5 makes none with others, either.) */
static void are_collective(int before, int is_filtered) {
#ifdef OPEN_MPI
    if (!is_filtered) IS_TRUE(collective_transfers == before);
#else
    (void)before, (void)is_filtered;
#endif
}

/* ---- a file of all ranks ----------------------------------------------------------------------- */

static char path[64];

static hid_t new_file(void) {
    const hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    MPI_Info hints; /* which each MPI may have, and tell of */
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    H5Pset_fapl_mpio(how, WORLD, hints);
    MPI_Info_free(&hints);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how);
    if (file < 0) MPI_Abort(WORLD, 1);
    H5Pclose(how);
    return file;
}

/* From here on ranks draw different numbers; back, when they have. */
static uint64_t draw_apart(void) {
    const uint64_t together = random_state;
    random_state = together * 31 + (uint64_t)me + 1;
    return together;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* ---- blocks ------------------------------------------------------------------------------------ */

/* The part of the dataset that a rank writes: some rows of dimension `cut`, perhaps none. */
static block_shape block_of(const block_shape *all, int rank, int cut, int64_t *offset) {
    block_shape b = *all;
    const int64_t each = (all->extent[cut] + ranks - 1) / ranks;
    memset(offset, 0, sizeof(int64_t[MOST]));
    offset[cut] = least(rank * each, all->extent[cut]);
    b.extent[cut] = least(each, all->extent[cut] - offset[cut]);
    return b;
}

/* A view of this shape, also without elements. */
static sample some_block(const block_shape *shape, ha_context *c) {
    block_shape b = *shape;
    int none = -1;
    for (int d = 0; d < b.rank; d++)
        if (!b.extent[d]) b.extent[none = d] = 1;
    sample s = some_sample(&b, c);
    if (none >= 0) s.view = darray_slice(s.view, none, s.view.origin[none], s.view.origin[none], 1);
    return s;
}

/* In chunks of two elements in each dimension that has so many, compressed. */
static hid_t filtered(const block_shape *all) {
    hsize_t chunk[MOST];
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    for (int d = 0; d < all->rank; d++) chunk[d] = (hsize_t)least(2, all->extent[d]);
    if (H5Pset_chunk(made, all->rank, chunk) < 0 || H5Pset_deflate(made, 1) < 0) abort();
    return made;
}

static void written_and_read(int rounds) {
    for (int round = 0; round < rounds; round++) {
        int64_t offset[MOST];
        const hid_t file = new_file();
        const block_shape all = some_shape(1);
        expected e = expect(&all, 3);
        const int is_filtered = all.rank && round % 2;
        const hid_t made = is_filtered ? filtered(&all) : H5P_DEFAULT;
        const hid_t dataset = make_dataset(file, "u", &e, made, 0);
        const int cut = (int)draw(all.rank), by_name = (int)draw(2);
        const uint64_t together = draw_apart();
        block_shape mine = block_of(&all, me, cut, offset);
        sample s = some_block(&mine, places[draw(PLACES)]);
        int before = collective_transfers;
        SUCCEEDS(darray_write_hdf5(s.view, by_name ? file : dataset, by_name ? "u" : NULL, offset));
        are_collective(before, is_filtered);
        IS_TRUE(storage_is_model(&s));
        MPI_Barrier(WORLD);
        expected found = content_of(dataset, &all), wanted = content_of(dataset, &all);
        move_in_model(&wanted, offset, &s, 1);
        IS_TRUE(same_elements(&found, &wanted));
        for (int d = 0; d < all.rank; d++) { /* any block, which others may read, too */
            offset[d] = draw(all.extent[d]);
            mine.extent[d] = 1 + draw(all.extent[d] - offset[d]);
        }
        sample t = some_sample(&mine, places[draw(PLACES)]);
        before = collective_transfers;
        SUCCEEDS(darray_read_hdf5(t.view, by_name ? file : dataset, by_name ? "u" : NULL, offset));
        are_collective(before, 0);
        move_in_model(&found, offset, &t, 0);
        IS_TRUE(storage_is_model(&t));
        random_state = together;
        free_sample(&s);
        free_sample(&t);
        free(e.bytes);
        free(found.bytes);
        free(wanted.bytes);
        if (is_filtered) H5Pclose(made);
        H5Dclose(dataset);
        H5Fclose(file);
    }
#ifndef OPEN_MPI
    IS_TRUE(collective_transfers > 0);
#endif
    end_file_case("blocks of all ranks");
}

/* One rank saves by itself, what all then read. */
static void saved_by_one(void) {
    block_shape all = {.type = HA_DTYPE_half, .rank = 2, .extent = {5, 7}};
    sample s = some_sample(&all, places[1]);
    if (me == ranks - 1) SUCCEEDS(darray_save_hdf5(s.view, path, "group/u"));
    MPI_Barrier(WORLD);
    darray x = darray_load_hdf5(path, "group/u", places[1]);
    int same = 0;
    SUCCEEDS(darray_equal(x, s.view, &same));
    IS_TRUE(same);
    SUCCEEDS(darray_free(&x));
    free_sample(&s);
    MPI_Barrier(WORLD);
    end_file_case("what one rank saves, all load");
}

/* ---- one rank fails ---------------------------------------------------------------------------- */

/* A dataset, a block of each rank, and what has to be if nobody changes anything. */
typedef struct world {
    hid_t file, dataset;
    expected before;
    int64_t offset[MOST];
    sample mine;
} world;

static world some_world(ha_context *c) {
    world w = {.file = new_file()};
    const block_shape all = {.type = HA_DTYPE_float, .rank = 2, .extent = {4 * ranks, 6}};
    w.before = expect(&all, 9);
    w.dataset = make_dataset(w.file, "u", &w.before, H5P_DEFAULT, me == 0);
    MPI_Barrier(WORLD);
    const uint64_t together = draw_apart();
    const block_shape block = block_of(&all, me, 0, w.offset);
    w.mine = some_sample(&block, c);
    random_state = together;
    return w;
}

static ha_status move(const world *w, darray view, int writes, const int64_t *offset) {
    if (writes) return darray_write_hdf5(view, w->file, "u", offset);
    return darray_read_hdf5(view, w->file, "u", offset);
}

/* All ranks have come to the end of a transfer, and begin the next one together. */
static void is_unchanged(const world *w) {
    expected found = content_of(w->dataset, &w->before.shape);
    IS_TRUE(same_elements(&found, &w->before));
    IS_TRUE(storage_is_model(&w->mine));
    free(found.bytes);
}

/* And then all goes well. */
static void end_world(world *w, int writes) {
    SUCCEEDS(move(w, w->mine.view, writes, w->offset));
    if (!writes) move_in_model(&w->before, w->offset, &w->mine, 0);
    IS_TRUE(storage_is_model(&w->mine));
    H5Dclose(w->dataset);
    H5Fclose(w->file);
    free_sample(&w->mine);
    free(w->before.bytes);
}

static void mistakes_of_one(int writes) {
    const int wrong = 1 % ranks;
    char told[40];
    world w = some_world(places[me % PLACES]);
    snprintf(told, sizeof told, "rank %d has failed", wrong);
    darray other = darray_zeros(HA_DTYPE_double, 2, w.mine.view.extent, ha_host());
    for (int which = 0; which < 5; which++) {
        static const ha_status status[] = {HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, HA_ERR_ARGUMENT,
                                           HA_ERR_NOT_FOUND, HA_ERR_CONFLICT};
        static const char *const words[] = {"type double", "(-1, 0)", "no array", "no such dataset",
                                            "'u'"};
        darray view = w.mine.view;
        const int64_t before[MOST] = {-1};
        const int is_mine = me == wrong;
        ha_access v;
        memset(&v, 0, sizeof v);
        if (is_mine && which == 0) view = other;
        if (is_mine && which == 2) view = (darray){.rank = 0};
        ha_array_set_name(w.mine.storage.array, "u");
        if (is_mine && which == 4)
            SUCCEEDS(ha_open(&v, view.array, ha_host(), HA_WRITE, 0, HA_END));
        ha_status s;
        if (is_mine && which == 3)
            s = writes ? darray_write_hdf5(view, w.file, "v", w.offset)
                       : darray_read_hdf5(view, w.file, "v", w.offset);
        else
            s = move(&w, view, writes, is_mine && which == 1 ? before : w.offset);
        if (v.data) SUCCEEDS(ha_close(&v));
        if (is_mine)
            FAILS(status[which], words[which], s);
        else
            FAILS(HA_ERR_LOST, told, s);
        is_unchanged(&w);
    }
    SUCCEEDS(darray_free(&other));
    end_world(&w, writes);
    end_file_case(writes ? "one rank may not write" : "one rank may not read");
}

/* The transfer has been made by all ranks: what has to be from now on. */
static void has_moved(world *w, int writes) {
    if (!writes) move_in_model(&w->before, w->offset, &w->mine, 0);
    if (writes) free(w->before.bytes);
    if (writes) w->before = content_of(w->dataset, &w->before.shape);
    if (writes) move_in_model(&w->before, w->offset, &w->mine, 1);
    is_unchanged(w);
}

/* Once. Returns whether the failure came so far. */
static int failure_of_one(world *w, int writes, int is_memory, int after) {
    const int wrong = ranks - 1;
    hdf5_has_failed = 0;
    if (me == wrong && is_memory) __atomic_store_n(&until_failure, after, __ATOMIC_RELAXED);
    if (me == wrong && !is_memory) hdf5_arm(after);
    const ha_status s = move(w, w->mine.view, writes, w->offset);
    const ha_error e = ha_take_error();
    const int ran_out = __atomic_exchange_n(&until_failure, -1, __ATOMIC_RELAXED) < 0 &&
                        me == wrong;
    int told[2] = {s != HA_OK, is_memory ? ran_out : hdf5_has_failed};
    hdf5_fails_at = -1;
    if (me == wrong && s && s != (is_memory ? HA_ERR_MEMORY : HA_ERR_BACKEND))
        complain(__LINE__, "%s", e.text);
    MPI_Bcast(told, 2, MPI_INT, wrong, WORLD);
    if (me != wrong) IS_TRUE(s == (told[0] ? HA_ERR_LOST : HA_OK));
    if (told[0])
        is_unchanged(w);
    else
        has_moved(w, writes);
    return told[1];
}

/* Each allocation fails on one rank, or each call of HDF5's that ranks make by themselves. */
static void failures_of_one(int writes, int is_memory) {
    world w = some_world(places[0]);
    for (int after = 0; failure_of_one(&w, writes, is_memory, after); after++)
        storage_becomes_model(&w.mine, places[after % PLACES]);
    end_world(&w, writes);
    end_file_case(is_memory ? "one rank has no memory" : "HDF5 fails on one rank");
}

/* ---- all of them ------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    const int rounds = getenv("HARRAY_TEST_LONG") ? 200 : argc > 1 ? atoi(argv[1]) : 10;
    int process;
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    if (ranks < 2) return 77; /* another MPI's launcher has started it */
    process = (int)getpid();
    MPI_Bcast(&process, 1, MPI_INT, 0, WORLD);
    snprintf(path, sizeof path, "/tmp/harray_hdf5_%d.h5", process);
    places[0] = ha_host();
    places[1] = ha_context_find("sim:0");
    written_and_read(rounds);
    saved_by_one();
    for (int writes = 0; writes < 2; writes++) {
        mistakes_of_one(writes);
        for (int is_memory = 0; is_memory < 2; is_memory++) failures_of_one(writes, is_memory);
    }
    if (!me) printf("1..%d\n", cases);
    MPI_Barrier(WORLD);
    if (!me) unlink(path);
    MPI_Finalize();
    return failures ? 1 : 0;
}
