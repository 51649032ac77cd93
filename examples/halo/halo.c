/* halo: heat spreads over a plate that two devices share.
 *
 *     halo [--device CTX --device CTX] [--size ROWS COLUMNS] [--steps N] [--columns]
 *
 * One array has the heat now, another one the heat a step later. Each device computes half of the rows,
 * for which it needs one row more: its halo. What to look at: nothing here copies. A device says which
 * part of the one array it reads, and which part of the other it overwrites; what moves is what was
 * computed elsewhere, the halos, and not a byte more. The program counts that in every step, and
 * compares the result with that of a plain loop, bit for bit. The step is a kernel: it runs on any device
 * that there is (--device opencl --device sim).
 *
 * With --columns the plate is cut the other way, and halos are columns, whose elements lie far apart.
 * Nothing changes but a view: the arrays are looked at transposed. */
#include "harray_kernels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device and its rows [first, last); how many there are around them that it reads, too. */
typedef struct half {
    ha_context *device;
    int64_t first, last;
    int64_t above, below;
} half;

/* ---- a step --------------------------------------------------------------------------------- */

HA_DEVICE_CODE(
    mean, HA_FN double mean(double a, double b, double c, double d) {
        return 0.25 * ((a + b) + (c + d));
    });

/* The heat of a device's rows and of its halo is given, and where the new heat goes. The plate's edge keeps
 * its heat. */
HA_KERNEL(spread,
          ((uses, mean), (value, int64_t, above), (in, array_double_2, now),
           (out, array_double_2, later)),
          (y, j), {
              const int64_t i = y + above;
              const int64_t bottom = now.extent[0] - 1, right = now.extent[1] - 1;
              if (i == 0 || i == bottom || j == 0 || j == right)
                  HA_AT(later, y, j) = HA_AT(now, i, j);
              else
                  HA_AT(later, y, j) = mean(HA_AT(now, i - 1, j), HA_AT(now, i + 1, j),
                                            HA_AT(now, i, j - 1), HA_AT(now, i, j + 1));
          });

/* It is enqueued; nobody waits for it. */
static void step(const half *h, array_double_2 now, array_double_2 later) {
    array_double_2 around = array_double_2_slice(now, 0, h->first - h->above, h->last + h->below,
                                                 1);
    array_double_2 own = array_double_2_slice(later, 0, h->first, h->last, 1);
    HA_IGNORE(spread(h->device, HA_DIM(h->last - h->first, now.extent[1]), h->above, around, own));
}

/* ---- what moves ----------------------------------------------------------------------------- */

/* Rows that the first or the second half has to receive: in the first step all that it reads and that
 * is not there yet, later its halo. */
static int64_t expected_rows(const half *halves, int i, bool is_first_step) {
    const half *h = &halves[i];
    const bool apart = halves[0].device != halves[1].device;
    if (!is_first_step) return apart ? 1 : 0;
    if (h->device == ha_host()) return 0; /* where all the heat is in the beginning */
    return h->last - h->first + (apart || i == 0 ? 1 : -1);
}

/* One step of both halves. Says what they received for it; false: that was not what it should be. */
static bool count_step(const half *halves, array_double_2 now, array_double_2 later,
                       bool is_first_step) {
    const int64_t row = now.extent[1] * (int64_t)sizeof(double);
    bool exact = true;
    for (int i = 0; i < 2; i++) {
        const half *h = &halves[i];
        const int64_t expected = expected_rows(halves, i, is_first_step) * row;
        const uint64_t before = ha_context_memory(h->device).bytes_in;
        step(h, now, later);
        const int64_t received = (int64_t)(ha_context_memory(h->device).bytes_in - before);
        (void)printf("%s %s %" PRId64, i ? "," : "", ha_context_name(h->device), received);
        if (received != expected) (void)printf(" (NOT %" PRId64 ")", expected);
        exact &= received == expected;
    }
    (void)printf(" bytes%s\n", !exact ? "" : is_first_step ? ", their halves" : ", the halos");
    return exact;
}

/* ---- the plate ------------------------------------------------------------------------------ */

typedef struct options {
    const char *device[2];
    int devices;
    int64_t rows, columns, steps;
    bool cuts_columns;
} options;

static double heat_at(int64_t i, int64_t j) { return (double)((31 * i + 17 * j) % 101) / 3; }

static void heat_up(array_double_2 plate) {
    HA_OVERWRITING_ALL(v, plate, ha_host()) {
        const span_double_2 s = v.span;
        for (int64_t i = 0; i < s.extent[0]; i++)
            for (int64_t j = 0; j < s.extent[1]; j++) HA_AT(s, i, j) = heat_at(i, j);
    }
}

/* The same without harray: the heat in the end, row by row. */
static double *spread_plainly(const options *o) {
    const int64_t n = o->rows, m = o->columns;
    double *now = malloc((size_t)(n * m) * sizeof *now),
           *later = malloc((size_t)(n * m) * sizeof *now);
    if (!now || !later) exit(1);
    for (int64_t i = 0; i < n * m; i++) now[i] = later[i] = heat_at(i / m, i % m);
    for (int64_t k = 0; k < o->steps; k++) {
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < m - 1; j++) {
                const double *at = &now[i * m + j];
                later[i * m + j] = o->cuts_columns ? mean(at[-1], at[1], at[-m], at[m])
                                                   : mean(at[-m], at[m], at[-1], at[1]);
            }
        double *other = now;
        now = later;
        later = other;
    }
    free(later);
    return now;
}

/* Bit for bit, and it says so. */
static bool compare(array_double_2 plate, const options *o) {
    double *plain = spread_plainly(o);
    int64_t different = o->rows * o->columns;
    HA_READING(v, plate, ha_host()) {
        const cspan_double_2 s = v.span;
        for (int64_t i = 0; i < o->rows; i++)
            for (int64_t j = 0; j < o->columns; j++)
                different -= memcmp(&HA_AT(s, i, j), &plain[i * o->columns + j], sizeof *plain) ==
                             0;
    }
    free(plain);
    if (different == 0)
        (void)printf("the result is that of a plain loop, bit for bit\n");
    else
        (void)printf("%" PRId64 " elements are NOT those of a plain loop\n", different);
    return different == 0;
}

/* ---- the program ---------------------------------------------------------------------------- */

/* harray keeps the first error, so that a run of calls can be checked once, at its end. */
static bool all_went_well(void) {
    const ha_error error = ha_take_error();
    if (error.status != HA_OK) (void)fprintf(stderr, "halo: %s\n", error.text);
    return error.status == HA_OK;
}

static bool run(const options *o, ha_context *first, ha_context *second) {
    array_double_2 plates[] = {array_double_2_new(HA_DIM(o->rows, o->columns), ha_host()),
                               array_double_2_new(HA_DIM(o->rows, o->columns), ha_host())};
    array_double_2 now = plates[0], later = plates[1];
    bool exact = true;
    heat_up(now);
    if (o->cuts_columns) {
        now = array_double_2_transpose(now);
        later = array_double_2_transpose(later);
    }
    const int64_t n = now.extent[0];
    const half halves[] = {{first, 0, n / 2, 0, 1}, {second, n / 2, n, 1, 0}};
    for (int64_t k = 0; k < o->steps; k++) {
        (void)printf("step %" PRId64 ":", k + 1);
        exact &= count_step(halves, now, later, k == 0);
        const array_double_2 other = now;
        now = later;
        later = other;
    }
    exact &= compare(plates[o->steps % 2], o);
    HA_IGNORE(array_double_2_free(&plates[0]));
    HA_IGNORE(array_double_2_free(&plates[1]));
    return all_went_well() && exact;
}

static bool read_number(const char *text, int64_t least, int64_t *number) {
    char *end;
    const long long n = strtoll(text, &end, 10);
    *number = n;
    return end != text && *end == '\0' && n >= least && n <= 1000000;
}

static bool read_options(options *o, int argc, char **argv) {
    bool good = true;
    *o = (options){.rows = 1000, .columns = 500, .steps = 5};
    for (int i = 1; i < argc && good; i++) {
        const int more = argc - 1 - i;
        if (strcmp(argv[i], "--device") == 0 && more >= 1 && o->devices < 2)
            o->device[o->devices++] = argv[++i];
        else if (strcmp(argv[i], "--size") == 0 && more >= 2)
            good = read_number(argv[++i], 4, &o->rows) && read_number(argv[++i], 4, &o->columns);
        else if (strcmp(argv[i], "--steps") == 0 && more >= 1)
            good = read_number(argv[++i], 0, &o->steps);
        else if (strcmp(argv[i], "--columns") == 0)
            o->cuts_columns = true;
        else
            good = false;
    }
    if (o->devices == 0) {
        o->device[0] = "sim:0";
        o->device[1] = "sim:1";
    }
    if (good && o->devices != 1) return true;
    (void)fputs(
        "usage: halo [--device CTX --device CTX] [--size ROWS COLUMNS] [--steps N] [--columns]\n"
        "ROWS, COLUMNS: 4 to 1000000\n",
        stderr);
    return false;
}

int main(int argc, char **argv) {
    options o;
    if (!read_options(&o, argc, argv)) return 2;
    ha_context *first = ha_context_find(o.device[0]);
    ha_context *second = first ? ha_context_find(o.device[1]) : NULL;
    if (!second) {
        (void)all_went_well();
        return 1;
    }
    return run(&o, first, second) ? 0 : 1;
}
