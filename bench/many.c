/* What it costs to open and close many accesses in one call, all or none, against the scopes one after
 * the other: of arrays, and of views of two dimensions. Everything is valid where it is asked for, and
 * nobody is in the way. Times are those of one access. */
#include "../harray.h"

#include "bench.h"

enum { MANY = 64, EDGE = 16 };
static const double BOUND = 1.3;

typedef struct subject {
    ha_context *context;
    unsigned how;
    int spans; /* of the views are filled, too, as scopes do */
    harray_double array[MANY];
    array_double_2 typed[MANY];
    darray view[MANY];
    ha_request request[MANY];
    ha_write_double access[MANY];
    ha_write_double_2 view_access[MANY];
} subject;

static void open_and_close(subject *s) {
    bench_require(ha_open_many(s->request, MANY) == HA_OK, "open many");
    for (size_t i = 0; i < MANY && s->spans; i++)
        bench_require(ha_span_of(&s->view_access[i], s->typed[i]) == HA_OK, "span");
    bench_use(s);
    bench_require(ha_close_many(s->request, MANY) == HA_OK, "close many");
}

static double time_many(void *data, size_t count) {
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) open_and_close((subject *)data);
    return (bench_own_now() - start) / MANY;
}

static double time_array_scopes(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count * MANY; i++) {
        const harray_double x = s->array[i % MANY];
        if (s->how == HA_READ) {
            HA_READING(v, x, s->context) bench_use(v.data);
        } else {
            HA_WRITING(v, x, s->context) bench_use(v.data);
        }
    }
    return (bench_own_now() - start) / MANY;
}

static double time_view_scopes(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count * MANY; i++) {
        const array_double_2 x = s->typed[i % MANY];
        if (s->how == HA_READ) {
            HA_READING(v, x, s->context) bench_use(&v);
        } else {
            HA_WRITING(v, x, s->context) bench_use(&v);
        }
    }
    return (bench_own_now() - start) / MANY;
}

static void arrays(subject *s, const char *name, unsigned how) {
    s->how = how;
    s->spans = 0;
    for (size_t i = 0; i < MANY; i++)
        s->request[i] = (ha_request){HA_ACCESS(&s->access[i]), s->array[i].array, s->context, how,
                                     .last = HA_END};
    bench_run(&(bench_figure){name, time_many, s, "scopes", time_array_scopes, s, .bound = BOUND});
}

static void views(subject *s, const char *name, unsigned how, int spans) {
    s->how = how;
    s->spans = spans;
    for (size_t i = 0; i < MANY; i++)
        s->request[i] = (ha_request){HA_ACCESS(&s->view_access[i]), .context = s->context,
                                     .how = how, .view = &s->view[i]};
    bench_run(&(bench_figure){name, time_many, s, "scopes", time_view_scopes, s, .bound = BOUND});
}

int main(int argc, char **argv) {
    static subject s;
    bench_begin(argc, argv, "included");
    s.context = ha_host();
    for (size_t i = 0; i < MANY; i++) {
        s.array[i] = harray_double_zeros(EDGE * EDGE);
        const array_double_2 whole = array_double_2_zeros(HA_DIM(EDGE, EDGE), ha_host());
        bench_require(s.array[i].array && whole.array, "arrays");
        s.typed[i] = array_double_2_part(whole, HA_DIM(1, 1), HA_DIM(EDGE - 1, EDGE - 1));
        s.view[i] = HA_DARRAY(s.typed[i]);
    }
    arrays(&s, "64 arrays, read", HA_READ);
    arrays(&s, "64 arrays, write", HA_WRITE);
    views(&s, "64 views, read", HA_READ, 0);
    views(&s, "64 views, write", HA_WRITE, 0);
    views(&s, "64 views with their spans, read", HA_READ, 1);
    for (size_t i = 0; i < MANY; i++) {
        HA_CHECK(harray_double_free(&s.array[i]));
        HA_CHECK(ha_array_free(s.typed[i].array));
    }
    HA_CHECK(ha_shutdown());
    return 0;
}
