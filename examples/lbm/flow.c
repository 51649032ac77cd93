/* The flow as a whole: how it begins, and what is launched in which order. */
#include "flow.h"

#include "lattice.h"

#include <math.h>
#include <stdlib.h>

struct flow {
    ha_context *where;
    sites sites;
    ha_region inside, outlet, obstacle;  /* outlet: the last column unless that is fixed */
    float even, odd;                     /* half of the rates */
    array_float_2 push_east, push_north; /* on each site of the obstacle's box */
    flow_results results;
};

/* ---- the beginning ----------------------------------------------------------------------------- */

/* Everywhere the fluid streams; a little to the side behind the obstacle, or it would take long for eddies
 * to come off to this side or that. */
static site at_first(const shape *s, int64_t row, int64_t column) {
    static const int east[] = {0, 1, -1, 0, 0, 1, -1, -1, 1},
                     north[] = {0, 0, 0, 1, -1, 1, -1, 1, -1};
    site new = {.solid = s->mask[row * s->columns + column]};
    const bool wake = column > s->box.last[1] && row > s->box.first[0] && row < s->box.last[0];
    const double x = new.solid ? 0 : SPEED;
    const double y = wake && !new.solid ? SPEED / 5 : 0;
    for (int k = 0; k < 9; k++) {
        const double weight = k == 0 ? 4.0 / 9 : k < 5 ? 1.0 / 9 : 1.0 / 36;
        const double c = east[k] * x + north[k] * y;
        new.f[k] = (float)(weight * (1 + 3 * c + 4.5 * c * c - 1.5 * (x * x + y * y)));
        new.g[k] = new.f[k];
    }
    return new;
}

static array_float_2 over_box(ha_region box) {
    return array_float_2_with_origin(
        array_float_2_zeros(HA_DIM(box.last[0] - box.first[0], box.last[1] - box.first[1]),
                            ha_host()),
        HA_DIM(box.first[0], box.first[1]));
}

static bool begin(flow *f, const shape *s, const setting *how) {
    const ha_dim2 size = HA_DIM(s->rows, s->columns);
    f->sites = sites_new(size);
    f->results.density = array_float_2_zeros(size, ha_host());
    f->results.east = array_float_2_zeros(size, ha_host());
    f->results.north = array_float_2_zeros(size, ha_host());
    f->push_east = over_box(s->box);
    f->push_north = over_box(s->box);
    f->results.drag = harray_float_zeros((size_t)how->samples);
    f->results.lift = harray_float_zeros((size_t)how->samples);
    if (ha_records_layout(f->sites.records, how->where, how->layout) != HA_OK) return false;
    bool begun = false; /* not in a layout that the view cannot show */
    HA_USING(v, f->sites, ha_host(), "overwrite") {
        HA_EACH(lattice, v, at) {
            lattice_store(v, at, at_first(s, ha_coordinate(at, 0), ha_coordinate(at, 1)));
        }
        begun = true;
    }
    return begun;
}

flow *flow_new(const shape *s, const setting *how) {
    flow *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    /* (even - 1/2) (odd - 1/2) = 1/12: the error of third order of what streams is zero. With 1/4, of which
     * less is needed at walls, the open edges become unstable at low viscosities. */
    const double even = 3 * how->viscosity + 0.5, odd = 1 / (36 * how->viscosity) + 0.5;
    f->where = how->where;
    f->inside = ha_box2(1, s->rows - 1, 1, s->columns - 1);
    f->outlet = ha_box2(1, s->rows - 1, how->fixed_end ? s->columns : s->columns - 1, s->columns);
    f->obstacle = s->box;
    f->even = (float)(0.5 / even);
    f->odd = (float)(0.5 / odd);
    if (begin(f, s, how)) return f;
    flow_free(f);
    return NULL;
}

void flow_free(flow *f) {
    HA_IGNORE(array_float_2_free(&f->results.density));
    HA_IGNORE(array_float_2_free(&f->results.east));
    HA_IGNORE(array_float_2_free(&f->results.north));
    HA_IGNORE(array_float_2_free(&f->push_east));
    HA_IGNORE(array_float_2_free(&f->push_north));
    HA_IGNORE(harray_float_free(&f->results.drag));
    HA_IGNORE(harray_float_free(&f->results.lift));
    HA_IGNORE(sites_free(&f->sites));
    free(f);
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* The first and the last row, the first column and a fixed last one are never written: there it streams for ever. */
bool flow_steps(flow *f, int64_t pairs) {
    for (int64_t k = 0; k < pairs; k++)
        if (step_forth_in(f->where, f->inside, f->sites, f->even, f->odd) != HA_OK ||
            leave_forth_in(f->where, f->outlet, f->sites) != HA_OK ||
            step_back_in(f->where, f->inside, f->sites, f->even, f->odd) != HA_OK ||
            leave_back_in(f->where, f->outlet, f->sites) != HA_OK)
            return false;
    return true;
}

bool flow_wait(flow *f) { return ha_context_finish(f->where) == HA_OK; }

bool flow_sample(flow *f) {
    flow_results *r = &f->results;
    const size_t k = (size_t)r->samples++;
    return push_in(f->where, f->obstacle, f->sites, f->push_east, f->push_north) == HA_OK &&
           total_in_into(f->where, f->obstacle, f->push_east, r->drag, k) == HA_OK &&
           total_in_into(f->where, f->obstacle, f->push_north, r->lift, k) == HA_OK;
}

bool flow_measure(flow *f, flow_results *r) {
    const flow_results *to = &f->results;
    if (measure(f->where, f->sites, to->density, to->east, to->north) != HA_OK) return false;
    *r = f->results;
    return true;
}

flow_results flow_samples(const flow *f) { return f->results; }
