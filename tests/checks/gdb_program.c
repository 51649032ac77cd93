/* What tests/checks/test_gdb.py looks at; the implementation is another unit. */
#include "harray_records.h"
#include <stdio.h>

typedef struct {
    struct {
        float x, y;
    } pos;
    int id;
} body;
#define body_FIELDS (float, pos, x), (float, pos, y), (int, id)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_VIEW_DEBUG(sky, body)
HA_RECORDS(bodies, sky);
HA_VIEW(plain, body, 1, HA_AOS)
HA_VIEW(grid, body, 2, HA_AOSOA(4))
HA_VIEW_DEBUG(grid, body)

__attribute__((noinline)) static void stop(const void *all) {
    __asm__ volatile("" : : "r"(all) : "memory");
}

int main(void) {
    bodies r = bodies_new(3);
    grid g = grid_new(2, 2);
    harray_double x = harray_double_new(4);
    harray_double none = {0};
    bodies nothing = {0};
    ha_read_double closed = {0};
    body two[2] = {{{0, 0}, 0}, {{0, 0}, 0}};
    plain unkept = plain_of(two, 2);
    HA_CHECK(ha_records_layout(r.records, ha_host(), "soa"));
    ha_records_set_name(r.records, "stars");
    harray_double_set_name(x, "x");
    HA_OVERWRITING(w, x, ha_host(), 4) for (size_t i = 0; i < 4; i++) w.data[i] = (double)i / 2;
    HA_EACH(grid, g, at)
    grid_id_set(g, at, 10 * (int)ha_coordinate(at, 0) + (int)ha_coordinate(at, 1));
    HA_USING(v, r, ha_host(), "overwrite") {
        HA_EACH(sky, v, at) {
            const body b = {{1.5f * (float)ha_index(at), 2}, (int)ha_index(at)};
            sky_store(v, at, b);
        }
        HA_READING_RANGE(w, x, ha_host(), 1, 3) {
            sky_const sky_reading_of_v = sky_reading(v);
            const void *const all[] = {&v,    &g,       &r,      &x,      &w,
                                       &none, &nothing, &closed, &unkept, &sky_reading_of_v};
            stop(all);
        }
    }
    grid_free(g);
    HA_CHECK(harray_double_free(&x));
    return bodies_free(&r) != HA_OK;
}
