/* Failure loop (test_failure.c) with views: boxes of tables and cubes to and from devices, those
 * without copy_strided, too; through chunks; sets that grow; several views of one array opened
 * together. A name as argument plays the chapters that match it. */
#include "../support/faulty_backend.h"
#include "../../backends/host/host.h"

/* A host that has no room for small blocks while it is told so: then staging uses chunks. */
static int host_is_full;
enum { SMALL_BLOCK = 1 << 16 };

static ha_status narrow_allocate(void *memory, size_t bytes, void **block) {
    if (host_is_full && bytes < SMALL_BLOCK) return HA_ERR_MEMORY;
    return ha_host_allocate(memory, bytes, block);
}

static const ha_memory_ops narrow_memory = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = narrow_allocate,
    .release = ha_host_release,
    .reaches = ha_host_reaches,
};
static const ha_backend narrow_host = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "host",
    .count = ha_host_count,
    .memory = &narrow_memory,
};
#define FAILURE_HOST narrow_host
#include "../support/failure_engine.h"
#include "failure_views.h"

/* ---- chapters ------------------------------------------------------------------------------- */

/* Without values, and with gaps. */
static darray begin_padded(model *m, ha_context *c) {
    const ha_shape shape = {.rank = 3, .extent = {3, 3, 4}, .padding = {0, 1, 1}};
    darray d;
    STEP(NULL, NULL, made(m, (d = darray_make(HA_DTYPE_double, &shape, c)).array));
    has(m, ha_array_size(m->array), NEVER, 0, 0);
    return d;
}

static const int64_t six_by_eight[] = {6, 8};

/* To and from every place: far devices by way of the host. */
static void play_table(void) {
    model *x = &models[0];
    const darray d = begin_table(x, 2, six_by_eight, N1);
    ha_context *const places[] = {F1, H, N2, N1_fork, F2};
    for (int64_t i = 0; i < 5; i++) {
        change_view(x, column_of(d, i), places[i], 2, 1);
        sum_view(x, row_of(d, i), places[(i + 1) % 5]);
        fill_view(x, darray_flip(row_of(d, i), 1), places[(i + 2) % 5], (double)i);
    }
    change_view(x, darray_slice(d, 1, 0, HA_ALL, 3), F1_fork, 1, 3); /* more than it shows */
    sum_view(x, d, N1);
    sum_view(x, darray_transpose(d), F2);
    read_back(x);
    drop(x);
}

static void play_cube(void) {
    model *x = &models[0];
    const darray d = begin_padded(x, F1);
    fill_view(x, d, F1, 5);
    for (int k = 0; k < 3; k++) {
        change_view(x, darray_fix(d, k, 0), k % 2 ? N1 : H, 2, k);
        sum_view(x, darray_fix(d, k, 2), k % 2 ? H : N2);
        prefetch_view(x, darray_fix(d, k, 1), F2);
    }
    const int64_t low[] = {1, 1, 1}, high[] = {3, 2, 3};
    fill_view(x, darray_part(d, low, high), N1_fork, 9);
    sum_view(x, d, F1);
    sum_view(x, d, N1);
    drop(x);
}

/* Each element by itself, so that no set has room. */
static void play_growth(void) {
    model *x = &models[0];
    const darray d = begin_table(x, 2, six_by_eight, H);
    prefetch_view(x, d, N1);
    for (int64_t i = 0; i < 6; i++) {
        const darray one = column_of(row_of(d, i), (5 * i) % 8);
        change_view(x, one, i % 2 ? N1 : F1, 1, (double)i);
        change_view(x, column_of(row_of(d, i), (5 * i + 3) % 8), i % 2 ? F1 : N1_fork, 1, 1);
    }
    sum_view(x, d, H);
    sum_view(x, darray_slice(d, 1, 2, 6, 1), F1);
    read_back(x);
    drop(x);
}

/* First touched where no host memory is pinned. */
static void play_chunks(void) {
    model *x = &models[0];
    ha_context *c = strcmp(run.cast->near, "faulty_private") ? F1 : N1, *far = c == F1 ? N1 : F1;
    const int64_t extent[] = {3, 4, 5};
    const darray d = begin_table(x, 3, extent, c);
    host_is_full = run.vague = 1;
    sum_view(x, darray_fix(d, 1, 2), far);
    change_view(x, darray_fix(d, 2, 3), far, 2, 0);
    sum_view(x, darray_fix(d, 0, 1), c);
    change_view(x, darray_fix(d, 1, 1), c == F1 ? F2 : N2, 1, 1);
    sum_view(x, d, far);
    host_is_full = run.vague = 0;
    sum_view(x, d, H);
    drop(x);
}

static ha_status opens_views(ha_access *v, ha_request *list, size_t count) {
    memset(v, 0xAA, count * sizeof *v);
    ha_status s = ha_open_many(list, count);
    for (size_t i = 0; i < count && s; i++)
        EXPECT(!v[i].data && !v[i].size && !v[i].array && !v[i].context && v[i].status,
               "a failed opening leaves something in an access");
    return s;
}

/* Crosswise, so that the sets are cut again and again while all are committed. */
static void open_views_together(model *m, darray d, ha_context *c, ha_context *other) {
    ha_access v[4];
    const int64_t at[][2] = {{0, 2}, {0, 5}, {3, 2}, {3, 5}};
    darray views[4];
    ha_request list[4];
    for (int i = 0; i < 4; i++) {
        const int64_t high[] = {at[i][0] + 2, at[i][1] + 2};
        views[i] = darray_part(d, at[i], high);
        list[i] = (ha_request){.access = &v[i],
                               .context = i % 2 ? other : c,
                               .how = i ? HA_WRITE : HA_READ,
                               .view = &views[i]};
    }
    STEP(m, other, opens_views(v, list, 4));
    sum_of_view(m, &v[0], &views[0]);
    for (int i = 1; i < 4; i++) compute_view(m, &v[i], &views[i], 1, i);
    for (int i = 0; i < 4; i++) close_step(&v[i]);
}

static void play_together(void) {
    model *x = &models[0];
    const darray d = begin_table(x, 2, six_by_eight, H);
    open_views_together(x, d, N1, N1_fork);
    open_views_together(x, d, H, N1);
    open_views_together(x, d, F1, F1_fork);
    read_back(x);
    drop(x);
}

static ha_status copied(const ha_array *from, model *to) {
    return made(to, ha_array_copy((ha_array *)(uintptr_t)from));
}

static void play_wholes(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 2, six_by_eight, N1);
    change_view(x, column_of(d, 3), H, 2, 0);
    change_view(x, row_of(d, 2), F1, 2, 0);
    change_view(x, column_of(d, 5), F1, 2, 0); /* piece by piece */
    STEP(x, NULL, copied(x->array, y));
    copies(y, x);
    set(x, 11, -4);
    get(x, 26);
    sum(x, N1, 3, 20);
    change(y, F1, 10, 30, 1, 1);
    STEP_OF_TWO(x, y, NULL, ha_array_swap(x->array, y->array));
    model kept = *x;
    copies(x, y);
    copies(y, &kept);
    STEP(x, NULL, ha_array_clear(x->array));
    has(x, 48, NEVER, 0, 0);
    fill_view(x, row_of(d, 1), F1, 8);
    read_back(x);
    read_back(y);
    drop(x);
    drop(y);
}

static const chapter chapters[] = {
    {"table", play_table, 0},
    {"cube", play_cube, 0},
    {"growth", play_growth, 0},
    {"chunks", play_chunks, 0},
    {"views together", play_together, 0},
    {"whole arrays", play_wholes, 0},
};

int main(int argc, char **argv) {
    return run_chapters("failure loop of views", chapters, sizeof chapters / sizeof *chapters, argc,
                        argv);
}
