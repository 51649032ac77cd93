/* halo_mpi: heat spreads in a box that the ranks of MPI share, and so does smoke, in records.
 *
 *     mpiexec -n 8 halo_mpi [--device CTX] [--size N N N] [--steps N]
 *
 * Each rank has a block of cells, with ghost cells around it, on a device: an array of heat, and records of air, in whose
 * layout ranks differ. A step begins with the exchange of ghost cells, of both in one message to each neighbour,
 * computes meanwhile what needs none, and then the rim of the block. What to look at: nothing here packs,
 * copies or waits for a device; and a block is fetched by rank 0 as a view of the whole, wherever it lies.
 *
 * Rank 0 compares the result with that of a plain loop, bit for bit, so it is the same for any number of ranks. */
#define HARRAY_IMPLEMENTATION
#include "harray_kernels.h"
#include "harray_mpi.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *device;
    int64_t size[3], steps;
} options;

/* ---- a step ------------------------------------------------------------------------------------ */

HA_DEVICE_CODE(
    spread,
    HA_FN double spread(double at, double a, double b, double c, double d, double e, double f) {
        return 0.4 * at + 0.1 * (((a + b) + (c + d)) + (e + f));
    });

/* Cells of a box, and those around it in the step before. */
HA_KERNEL(relax, ((uses, spread), (in, array_double_3, now), (out, array_double_3, later)),
          (i, j, k), {
              HA_AT(later, i, j,
                    k) = spread(HA_AT(now, i + 1, j + 1, k + 1), HA_AT(now, i, j + 1, k + 1),
                                HA_AT(now, i + 2, j + 1, k + 1), HA_AT(now, i + 1, j, k + 1),
                                HA_AT(now, i + 1, j + 2, k + 1), HA_AT(now, i + 1, j + 1, k),
                                HA_AT(now, i + 1, j + 1, k + 2));
          });

typedef struct air {
    double smoke;
    int32_t cell; /* its number, which stays where it is */
} air;
#define air_FIELDS (double, smoke), (int32_t, cell)
HA_RECORD(air)
HA_VIEW(sky, air, 3, HA_ANY)
HA_RECORDS(airs, sky);

/* The same of records. */
HA_KERNEL_EACH(drift, (airs, later, "write smoke"),
               ((uses, spread), (use, airs, now, "read smoke")), at, {
                   const ptrdiff_t i = ha_coordinate(at, 0);
                   const ptrdiff_t j = ha_coordinate(at, 1);
                   const ptrdiff_t k = ha_coordinate(at, 2);
                   *sky_smoke(later, at) = spread(*sky_smoke(now, sky_at(now, i, j, k)),
                                                  *sky_smoke(now, sky_at(now, i - 1, j, k)),
                                                  *sky_smoke(now, sky_at(now, i + 1, j, k)),
                                                  *sky_smoke(now, sky_at(now, i, j - 1, k)),
                                                  *sky_smoke(now, sky_at(now, i, j + 1, k)),
                                                  *sky_smoke(now, sky_at(now, i, j, k - 1)),
                                                  *sky_smoke(now, sky_at(now, i, j, k + 1)));
               });

/* What is there at a time. */
typedef struct state {
    array_double_3 heat;
    airs air;
} state;

/* Indices of the whole, or of a block without ghost cells. */
typedef struct box {
    int64_t first[3], last[3];
} box;

static bool is_empty(const box *b) {
    return b->first[0] >= b->last[0] || b->first[1] >= b->last[1] || b->first[2] >= b->last[2];
}

static array_double_3 part(array_double_3 x, const box *b, int64_t more) {
    return array_double_3_part(x,
                               HA_DIM(b->first[0] - more, b->first[1] - more, b->first[2] - more),
                               HA_DIM(b->last[0] + more, b->last[1] + more, b->last[2] + more));
}

/* Of records of a block, whose indices begin with the ghost cells'. */
static ha_region region(const box *b) {
    return ha_box3(b->first[0] + 1, b->last[0] + 1, b->first[1] + 1, b->last[1] + 1,
                   b->first[2] + 1, b->last[2] + 1);
}

static void compute(ha_context *device, const box *b, const state *now, const state *later) {
    if (is_empty(b)) return;
    HA_CHECK(
        relax(device,
              HA_DIM(b->last[0] - b->first[0], b->last[1] - b->first[1], b->last[2] - b->first[2]),
              part(now->heat, b, 1), part(later->heat, b, 0)));
    HA_CHECK(drift_in(device, region(b), later->air, now->air));
}

/* ---- blocks ------------------------------------------------------------------------------------ */

typedef struct block {
    MPI_Comm cart;
    int rank, ranks;
    box whole; /* its place in the whole */
    box inner, rim[6];
    int64_t extent[3];
} block;

/* The place of a rank's block. */
static box place_of(MPI_Comm cart, int rank, const options *o) {
    int size[3], periodic[3], mine[3], at[3];
    box b;
    MPI_Cart_get(cart, 3, size, periodic, mine);
    MPI_Cart_coords(cart, rank, 3, at);
    for (int d = 0; d < 3; d++) {
        b.first[d] = o->size[d] * at[d] / size[d];
        b.last[d] = o->size[d] * (at[d] + 1) / size[d];
    }
    return b;
}

/* What needs no ghost cells, and six slabs around that. */
static void divide(block *b) {
    box rest = {{0, 0, 0}, {b->extent[0], b->extent[1], b->extent[2]}};
    for (int d = 0; d < 3; d++) {
        box *low = &b->rim[2 * d], *high = &b->rim[2 * d + 1];
        const int64_t end = rest.last[d];
        *low = *high = rest;
        low->last[d] = rest.first[d] = 1;
        rest.last[d] = high->first[d] = end > 1 ? end - 1 : 1;
        high->last[d] = end;
    }
    b->inner = rest;
}

static block make_block(const options *o) {
    block b;
    int size[3] = {0, 0, 0}, periodic[3] = {0, 0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    MPI_Dims_create(b.ranks, 3, size);
    MPI_Cart_create(MPI_COMM_WORLD, 3, size, periodic, 0, &b.cart);
    MPI_Comm_rank(b.cart, &b.rank);
    b.whole = place_of(b.cart, b.rank, o);
    for (int d = 0; d < 3; d++) b.extent[d] = b.whole.last[d] - b.whole.first[d];
    divide(&b);
    return b;
}

static double heat_at(int64_t i, int64_t j, int64_t k) {
    return (double)((31 * i + 17 * j + 7 * k) % 101) / 3;
}

/* Ghost cells at the edge of the whole are cold, and stay so: no neighbour writes them. */
static array_double_3 make_heat(const block *b, ha_context *device) {
    const ha_shape shape = {.rank = 3,
                            .extent = {b->extent[0], b->extent[1], b->extent[2]},
                            .ghost_low = {1, 1, 1},
                            .ghost_high = {1, 1, 1}};
    array_double_3 x = array_double_3_make(&shape, device);
    HA_CHECK(array_double_3_fill(x, 0, ha_host()));
    HA_WRITING(v, array_double_3_interior(x), ha_host()) {
        const span_double_3 s = v.span;
        for (int64_t i = 0; i < s.extent[0]; i++)
            for (int64_t j = 0; j < s.extent[1]; j++)
                for (int64_t k = 0; k < s.extent[2]; k++)
                    HA_AT(s, i, j, k) = heat_at(b->whole.first[0] + i, b->whole.first[1] + j,
                                                b->whole.first[2] + k);
    }
    return x;
}

static double smoke_at(int64_t i, int64_t j, int64_t k) {
    return (double)((7 * i + 29 * j + 13 * k) % 89) / 7;
}

/* Of each rank in another layout on its device. */
static airs make_air(const block *b, ha_context *device) {
    airs r = airs_new(HA_DIM(b->extent[0] + 2, b->extent[1] + 2, b->extent[2] + 2));
    HA_CHECK(ha_records_layout(r.records, device, b->rank % 2 ? "soa" : "aosoa(8)"));
    HA_USING(v, r, ha_host(), "overwrite") HA_EACH(sky, v, at) {
        const air none = {.smoke = 0, .cell = (int32_t)ha_index(at)};
        sky_store(v, at, none);
    }
    const box inside = {{0, 0, 0}, {b->extent[0], b->extent[1], b->extent[2]}};
    HA_USING_BOX(v, r, ha_host(), "write smoke", region(&inside))
    HA_EACH_IN(sky, v, at, region(&inside))
    *sky_smoke(v, at) = smoke_at(b->whole.first[0] + ha_coordinate(at, 0) - 1,
                                 b->whole.first[1] + ha_coordinate(at, 1) - 1,
                                 b->whole.first[2] + ha_coordinate(at, 2) - 1);
    return r;
}

static state make_state(const block *b, ha_context *device) {
    return (state){make_heat(b, device), make_air(b, device)};
}

static void free_state(state *s) {
    HA_CHECK(array_double_3_free(&s->heat));
    airs_free(&s->air);
}

enum { FIELDS = 2 };

/* What has ghost cells. */
static void list_fields(const block *b, const state *s, ha_mpi_part *field) {
    const ha_region all = ha_box3(0, b->extent[0] + 2, 0, b->extent[1] + 2, 0, b->extent[2] + 2);
    field[0] = HA_MPI_PART(s->heat);
    field[1] = HA_MPI_FIELDS(s->air.records, "smoke", all);
}

/* The result is in *now then. */
static void run(const block *b, ha_context *device, state *now, state *later, int64_t steps) {
    ha_mpi_part field[FIELDS];
    list_fields(b, now, field);
    ha_mpi_halo *halo = ha_mpi_halo_new(b->cart, device, 1, field, FIELDS, HA_MPI_FACES);
    if (!halo) HA_CHECK_ERRORS();
    for (int64_t step = 0; step < steps; step++) {
        list_fields(b, now, field);
        HA_CHECK(ha_mpi_halo_rebind(halo, field, FIELDS));
        HA_CHECK(ha_mpi_halo_start(halo));
        compute(device, &b->inner, now, later);
        HA_CHECK(ha_mpi_halo_finish(halo));
        for (int side = 0; side < 6; side++) compute(device, &b->rim[side], now, later);
        const state other = *now;
        *now = *later;
        *later = other;
    }
    ha_mpi_halo_free(halo);
}

/* ---- the result -------------------------------------------------------------------------------- */

/* The same without harray. The grid has a cold cell at each end. */
static double *spread_plainly(const options *o, double (*first_at)(int64_t, int64_t, int64_t)) {
    const int64_t n = o->size[0], m = o->size[1], l = o->size[2];
    const int64_t row = l + 2, plane = (m + 2) * row, all = (n + 2) * plane;
    double *now = calloc((size_t)all, sizeof *now), *later = calloc((size_t)all, sizeof *now);
    if (!now || !later) exit(1);
    for (int64_t at = 0; at < n * m * l; at++)
        now[(at / (m * l) + 1) * plane + (at / l % m + 1) * row + at % l + 1] = first_at(
            at / (m * l), at / l % m, at % l);
    for (int64_t step = 0; step < o->steps; step++) {
        for (int64_t at = 0; at < n * m * l; at++) {
            const int64_t x = (at / (m * l) + 1) * plane + (at / l % m + 1) * row + at % l + 1;
            later[x] = spread(now[x], now[x - plane], now[x + plane], now[x - row], now[x + row],
                              now[x - 1], now[x + 1]);
        }
        double *other = now;
        now = later;
        later = other;
    }
    free(later);
    return now;
}

/* How many values of the whole, without gaps, are not those of a plain loop, bit for bit. */
static int64_t differences(const double *whole, const double *plain, const options *o) {
    const int64_t n = o->size[0], m = o->size[1], l = o->size[2];
    int64_t different = 0;
    for (int64_t at = 0; at < n * m * l; at++) {
        const int64_t there = ((at / (m * l) + 1) * (m + 2) + at / l % m + 1) * (l + 2) + at % l +
                              1;
        different += memcmp(&whole[at], &plain[there], sizeof *plain) != 0;
    }
    return different;
}

static bool compare(array_double_3 heat, airs all, const options *o) {
    double *plain = spread_plainly(o, heat_at), *plain_smoke = spread_plainly(o, smoke_at);
    int64_t different = 0;
    HA_READING(v, heat, ha_host()) different += differences(v.data, plain, o);
    HA_USING(v, all, ha_host(), "read smoke")
    different += differences(sky_smoke(v, sky_at(v, 0, 0, 0)), plain_smoke, o);
    free(plain);
    free(plain_smoke);
    if (different == 0)
        (void)printf("heat and smoke are those of a plain loop, bit for bit\n");
    else
        (void)printf("%" PRId64 " values are NOT those of a plain loop\n", different);
    return different == 0;
}

/* Rank 0 receives each block where it belongs in the whole. */
static bool collect(const block *b, const state *s, const options *o) {
    const box inside = {{0, 0, 0}, {b->extent[0], b->extent[1], b->extent[2]}};
    const ha_mpi_part own = HA_MPI_PART(array_double_3_interior(s->heat));
    const ha_mpi_part smoke = HA_MPI_FIELDS(s->air.records, "smoke", region(&inside));
    ha_mpi_request sent[2] = {{0}};
    HA_CHECK(ha_mpi_isend(&sent[0], own, 0, 1, b->cart));
    HA_CHECK(ha_mpi_isend(&sent[1], smoke, 0, 2, b->cart));
    bool exact = true;
    if (b->rank == 0) {
        array_double_3 heat = array_double_3_new(HA_DIM(o->size[0], o->size[1], o->size[2]),
                                                 ha_host());
        airs all = airs_new(HA_DIM(o->size[0], o->size[1], o->size[2]));
        HA_CHECK(ha_records_layout(all.records, ha_host(), "soa"));
        for (int rank = 0; rank < b->ranks; rank++) {
            const box p = place_of(b->cart, rank, o);
            const ha_region place = ha_box3(p.first[0], p.last[0], p.first[1], p.last[1],
                                            p.first[2], p.last[2]);
            HA_CHECK(ha_mpi_recv(part(heat, &p, 0), rank, 1, b->cart));
            HA_CHECK(ha_mpi_recv(HA_MPI_FIELDS(all.records, "smoke", place), rank, 2, b->cart));
        }
        exact = compare(heat, all, o);
        HA_CHECK(array_double_3_free(&heat));
        airs_free(&all);
    }
    HA_CHECK(ha_mpi_wait_all(sent, 2));
    return exact;
}

/* ---- the program ------------------------------------------------------------------------------- */

static bool read_number(const char *text, int64_t least, int64_t *number) {
    char *end;
    const long long n = strtoll(text, &end, 10);
    *number = n;
    return end != text && *end == '\0' && n >= least && n <= 100000;
}

static bool read_options(options *o, int argc, char **argv) {
    bool good = true;
    *o = (options){.device = "sim:0", .size = {24, 20, 28}, .steps = 10};
    for (int i = 1; i < argc && good; i++) {
        const int more = argc - 1 - i;
        if (strcmp(argv[i], "--device") == 0 && more >= 1)
            o->device = argv[++i];
        else if (strcmp(argv[i], "--steps") == 0 && more >= 1)
            good = read_number(argv[++i], 0, &o->steps);
        else if (strcmp(argv[i], "--size") == 0 && more >= 3)
            for (int d = 0; d < 3; d++) good = read_number(argv[++i], 1, &o->size[d]) && good;
        else
            good = false;
    }
    return good;
}

static int run_on_ranks(const options *o) {
    ha_context *device = ha_context_find(o->device);
    if (!device) HA_CHECK_ERRORS();
    block b = make_block(o);
    state now = make_state(&b, device), later = make_state(&b, device);
    HA_CHECK(ha_context_finish(device));
    MPI_Barrier(b.cart);
    const double begin = MPI_Wtime();
    run(&b, device, &now, &later, o->steps);
    HA_CHECK(ha_context_finish(device)); /* what is measured has happened */
    const double seconds = MPI_Wtime() - begin;
    const ha_mpi_traffic t = ha_mpi_traffic_so_far();
    if (b.rank == 0)
        (void)printf("%d ranks, %s: %.3f ms a step; rank 0 has sent %" PRIu64 " bytes in %" PRIu64
                     " messages\n",
                     b.ranks, ha_context_name(device),
                     1e3 * seconds / (double)(o->steps ? o->steps : 1), t.bytes_sent,
                     t.messages_sent);
    const bool exact = collect(&b, &now, o);
    free_state(&now);
    free_state(&later);
    HA_CHECK_ERRORS();
    MPI_Comm_free(&b.cart);
    return exact ? 0 : 1;
}

int main(int argc, char **argv) {
    options o;
    int status = 2;
    MPI_Init(&argc, &argv);
    if (read_options(&o, argc, argv))
        status = run_on_ranks(&o);
    else
        (void)fputs("usage: halo_mpi [--device CTX] [--size N N N] [--steps N]\n", stderr);
    MPI_Finalize();
    return status;
}
