/* What each operation does to the state of an array: prints the table that docs/guide.md shows.
 *
 * An array of 100 elements is used on the host and on one simulated device. After each operation
 * the table says which elements are valid where, and how many were moved. */
#define HARRAY_IMPLEMENTATION
#include "../harray.h"
#include <stdio.h>
#include <string.h>

static ha_context *host, *sim;
static harray_double x;
static uint64_t moved;

/* "0–10, 30–100", "all", or "–" */
static void print_valid(ha_context *context) {
    ha_range r[8];
    size_t size = harray_double_size(x);
    size_t n = ha_array_valid_ranges(x.array, context, r, 8);
    if (n == 0)
        printf(" –");
    else if (n == 1 && r[0].first == 0 && r[0].last == size)
        printf(" all");
    else
        for (size_t i = 0; i < n && i < 8; i++)
            printf("%s%zu–%zu", i ? ", " : " ", r[i].first, r[i].last);
    printf(" |");
}

static void row(const char *operation) {
    uint64_t bytes = ha_array_statistics(x.array).bytes;
    printf("| %s | %zu |", operation, harray_double_size(x));
    print_valid(host);
    print_valid(sim);
    printf(" %zu |\n", (size_t)(bytes - moved) / sizeof(double));
    moved = bytes;
}

/* Opens, closes, prints a row. The data does not matter here. */
#define SHOW(scope, operation)                                                                     \
    do {                                                                                           \
        scope {}                                                                                   \
        row(operation);                                                                            \
    } while (0)

int main(void) {
    host = ha_host();
    sim = ha_context_find("sim");
    x = harray_double_new(100);
    printf("| operation | size | valid on host | valid on sim | elements moved |\n");
    printf("|---|---|---|---|---|\n");
    row("new, 100 elements");
    SHOW(HA_OVERWRITING(v, x, host, 100), "overwrite on host");
    SHOW(HA_READING_RANGE(v, x, sim, 0, 10), "read 0–10 on sim");
    SHOW(HA_READING(v, x, sim), "read on sim");
    SHOW(HA_READING(v, x, sim), "read on sim again");
    SHOW(HA_WRITING_RANGE(v, x, sim, 40, 60), "write 40–60 on sim");
    SHOW(HA_READING(v, x, host), "read on host");
    SHOW(HA_OVERWRITING_RANGE(v, x, host, 0, 10), "overwrite 0–10 on host");
    SHOW(HA_WRITING(v, x, sim), "write on sim");
    HA_CHECK(harray_double_resize(x, 120));
    row("resize to 120");
    SHOW(HA_WRITING(v, x, host), "write on host");
    HA_CHECK(ha_array_prefetch(x.array, sim, 0, HA_END));
    row("prefetch to sim");
    SHOW(HA_OVERWRITING(v, x, sim, 80), "overwrite with 80 on sim");
    HA_CHECK(ha_array_clear(x.array));
    row("clear");
    HA_CHECK(harray_double_free(&x));
    return ha_shutdown() != HA_OK;
}
