/* Failure loop (test_failure.c) with work on views: copies on devices, on the host and through
 * copies of their own; filling, single elements, comparing, new arrays, plans. A name as argument
 * plays the chapters that match it. */
#include "../support/failure_engine.h"
#include "failure_views.h"

/* ---- what the model has --------------------------------------------------------------------- */

/* The elements of a view in the storage, last index fastest. */
typedef struct places {
    size_t n, at[MOST_ELEMENTS];
} places;

static places places_of(const darray *view) {
    places p = {.n = 0};
    int64_t index[HA_MOST_RANK] = {0};
    do p.at[p.n++] = (size_t)(view->offset + ha_offset(view->rank, index, view->stride));
    while (ha_next_index(view->rank, view->extent, index));
    return p;
}

static void copies_elements(model *to, const darray *to_view, const model *from,
                            const darray *from_view) {
    const model was = *from;
    const places t = places_of(to_view), f = places_of(from_view);
    for (size_t i = 0; i < t.n; i++) {
        to->value[t.at[i]] = was.value[f.at[i]];
        to->state[t.at[i]] = was.state[f.at[i]];
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void copy_view(model *to, darray to_view, model *from, darray from_view, ha_context *c) {
    run.source = from;
    STEP_OF_TWO(to, from, c, darray_copy(to_view, from_view, c));
    run.source = NULL;
    copies_elements(to, &to_view, from, &from_view);
}

static void fill_with(model *m, darray view, ha_context *c, double value) {
    const places p = places_of(&view);
    STEP(m, c, darray_fill(view, ha_dvalue_of_double(value), c));
    for (size_t i = 0; i < p.n; i++) {
        m->value[p.at[i]] = value;
        m->state[p.at[i]] = KNOWN;
    }
}

static void set_at(model *m, darray d, int64_t i, int64_t j, double value) {
    const int64_t index[] = {i, j};
    const size_t at = (size_t)(d.offset + ha_offset(2, index, d.stride));
    STEP(m, ha_element_context(m->array, at),
         darray_set(d, d.rank, index, ha_dvalue_of_double(value)));
    m->value[at] = value;
}

static void get_at(model *m, darray d, int64_t i, int64_t j) {
    const int64_t index[] = {i, j};
    const size_t at = (size_t)(d.offset + ha_offset(2, index, d.stride));
    ha_dvalue value = ha_dvalue_of_bool(0);
    STEP(m, ha_element_context(m->array, at), darray_get(d, d.rank, index, &value));
    EXPECT(value.type == HA_DTYPE_double && value.as_double == m->value[at],
           "element %zu is another", at);
}

static ha_status compares(darray a, darray b, int *equal) {
    *equal = -1;
    ha_status s = darray_equal(a, b, equal);
    EXPECT(!s || *equal == -1, "a failed comparison has a result");
    return s;
}

static void compare(model *x, darray a, model *y, darray b, int expected) {
    int equal;
    STEP_OF_TWO(x, y, H, compares(a, b, &equal));
    EXPECT(equal == expected, "equal is %d", equal);
}

/* d: what the new array is. */
static ha_status takes(model *m, darray *d, darray made_one) {
    *d = made_one;
    return made(m, d->array);
}

static darray contiguous(model *to, model *from, darray view, ha_order order, ha_context *c) {
    darray d;
    run.source = from;
    STEP(NULL, c, takes(to, &d, darray_contiguous(view, order, c)));
    run.source = NULL;
    has(to, ha_array_size(to->array), KNOWN, 0, 0);
    copies_elements(to, &d, from, &view);
    return d;
}

/* Of another type: the model does not know its values. */
static darray converted(model *to, model *from, darray view, ha_dtype type, ha_context *c) {
    darray d;
    run.source = from;
    STEP(NULL, c, takes(to, &d, darray_convert(view, type, c)));
    run.source = NULL;
    has(to, ha_array_size(to->array), UNDEFINED, 0, 0);
    return d;
}

/* ---- plans ---------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 6 };

typedef struct plan_pair {
    model *to, *from;
    darray to_view, from_view;
    ha_context *context;
} plan_pair;

static ha_status plans(ha_copy_plan **plan, const plan_pair *pair, size_t n) {
    ha_copy_pair list[MOST_PAIRS];
    for (size_t i = 0; i < n; i++)
        list[i] = (ha_copy_pair){pair[i].to_view, pair[i].from_view, pair[i].context};
    return status_of(*plan = ha_copy_plan_new(list, n));
}

/* Everything was open, and a device refused its part. */
static int was_refused(ha_status s) {
    return s && strstr(ha_first_error.text, "copying pair") != NULL;
}

static void expect_refused(ha_status s, const plan_pair *pair, size_t n) {
    const ha_error e = ha_take_error();
    EXPECT(faulty_disarm() > 0, "%s, but nothing was made to fail", ha_status_name(s));
    check_error(s, &e);
    for (size_t i = 0; i < n; i++) {
        const places p = places_of(&pair[i].to_view);
        for (size_t k = 0; k < p.n; k++) pair[i].to->state[p.at[k]] = UNDEFINED;
    }
    check_inside();
    check_values();
    run.spent = 1;
    run.told = 0;
}

static void run_plan(const ha_copy_plan *plan, const plan_pair *pair, size_t n, ha_context *c) {
    begin_step(HA_SITE ": ha_copy_plan_run", pair[0].to, pair[0].from, c);
    for (size_t i = 0; i < n; i++) /* of all */
        if (pair[i].to != pair[0].to) run.about[0] = NULL;
    ha_status s = ha_copy_plan_run(plan);
    if (was_refused(s)) {
        expect_refused(s, pair, n);
        s = ha_copy_plan_run(plan);
    }
    if (end_step(s)) (void)end_step(ha_copy_plan_run(plan));
    for (size_t i = 0; i < n; i++)
        copies_elements(pair[i].to, &pair[i].to_view, pair[i].from, &pair[i].from_view);
}

/* ---- chapters ------------------------------------------------------------------------------- */

static const int64_t six_by_eight[] = {6, 8}, cube[] = {3, 4, 4};

static darray box(darray d, int64_t low, int64_t high) {
    const int64_t first[] = {low, low, low}, last[] = {high, high, high};
    return darray_part(d, first, last);
}

/* Where both are: one command each, of none, one and two levels of rows. */
static void play_there(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 3, cube, N1), e = begin_table(y, 3, cube, F1);
    ha_context *const at[] = {N1, N1_fork, F1, F1_fork};
    for (int64_t i = 0; i < 4; i++) {
        change_view(x, d, at[i], 2, (double)i);
        fill_view(y, e, at[i], 3);
        copy_view(y, darray_fix(e, 0, 0), x, darray_fix(d, 0, i % 3), at[i]);
        copy_view(y, darray_fix(e, 2, 1), x, darray_fix(d, 2, i), at[i]);
        copy_view(y, box(e, 1, 3), x, box(d, 0, 2), at[i]);
        copy_view(y, darray_flip(darray_fix(e, 0, 1), 0), x, darray_flip(darray_fix(d, 0, 2), 0),
                  at[i]);
        sum_view(y, e, at[i]);
    }
    copy_view(y, e, x, d, F1);
    copy_view(x, box(d, 0, 1), x, box(d, 2, 3), F1); /* of one storage */
    read_back(x);
    read_back(y);
    drop(x);
    drop(y);
}

/* From elsewhere, and what no device can do. */
static void play_host(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 2, six_by_eight, N1), e = begin_table(y, 2, six_by_eight, F1);
    change_view(x, d, N1, 2, 1);
    change_view(y, e, F1, 3, 1);
    copy_view(y, column_of(e, 2), x, column_of(d, 5), F1);
    change_view(x, row_of(d, 3), F1, 1, 1);
    change_view(y, row_of(e, 4), N1, 1, 1);
    copy_view(y, darray_slice(e, 1, 1, 7, 2), x, darray_slice(d, 1, 0, 6, 2), N1);
    change_view(y, e, N1, 1, 1);
    change_view(x, d, N1_fork, 1, 1);
    copy_view(y, darray_flip(e, 1), x, d, N1);
    change_view(x, d, N2, 1, 1);
    copy_view(y, darray_slice(e, 1, 2, 8, 1), x,
              darray_transpose(darray_slice(darray_slice(d, 1, 0, 6, 1), 0, 0, 6, 1)), F2);
    read_back(x);
    read_back(y);
    drop(x);
    drop(y);
}

/* What overlaps, and what might not fit. */
static void play_through(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 2, six_by_eight, N1);
    ha_context *const at[] = {N1, F1, H};
    for (int64_t i = 0; i < 3; i++) {
        change_view(x, d, at[i], 1, (double)i);
        copy_view(x, darray_slice(d, 1, 1, 8, 1), x, darray_slice(d, 1, 0, 7, 1), at[i]);
        change_view(x, row_of(d, i), at[(i + 1) % 3], 1, 1);
        copy_view(x, d, x, darray_flip(d, 0), at[i]);
    }
    const darray e = converted(y, x, d, HA_DTYPE_int32_t, F1);
    compare(x, d, y, e, 1);
    change_view(x, column_of(d, 1), N1, 1, 1);
    compare(x, d, y, e, 0);
    run.source = x;
    STEP_OF_TWO(y, x, N1, darray_copy(column_of(e, 1), column_of(d, 1), N1));
    run.source = NULL;
    compare(x, d, y, e, 1);
    model same = *x;
    same.array = NULL;
    fill_view(x, d, F1, 0);
    STEP_OF_TWO(x, y, F1, darray_copy(d, e, F1));
    copies(x, &same);
    read_back(x);
    drop(x);
    drop(y);
}

static void play_contents(void) {
    model *x = &models[0];
    const darray d = begin_table(x, 2, six_by_eight, N1);
    ha_context *const at[] = {N1, F1, H, N2, F1_fork};
    for (int64_t i = 0; i < 5; i++) {
        fill_with(x, row_of(d, i), at[i], (double)i);
        fill_with(x, column_of(d, i), at[i], 5);
        fill_with(x, darray_flip(darray_slice(d, 0, 1, 3, 1), 1), at[i], 6 + (double)i);
        set_at(x, d, i, 7 - i, 77);
        change_view(x, column_of(d, 7), at[(i + 2) % 5], 1, 1);
        get_at(x, d, i, 7 - i);
        get_at(x, darray_flip(d, 1), i, i);
        set_at(x, darray_transpose(d), i, i, 78);
    }
    fill_with(x, d, F1, 9);
    get_at(x, d, 5, 7);
    read_back(x);
    drop(x);
}

static void play_new_arrays(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 2, six_by_eight, N1);
    ha_context *const at[] = {N1, F1, H};
    for (int i = 0; i < 3; i++) {
        change_view(x, d, at[i], 1, i);
        const darray same = contiguous(y, x, darray_slice(d, 1, 2, 6, 1), HA_ROW_MAJOR, at[i]);
        compare(x, darray_slice(d, 1, 2, 6, 1), y, same, 1);
        drop(y);
        (void)contiguous(y, x, d, HA_COLUMN_MAJOR, at[(i + 1) % 3]);
        sum(y, at[i], 0, HA_END);
        drop(y);
        const darray shorter = converted(y, x, row_of(d, i), HA_DTYPE_float, at[i]);
        compare(x, row_of(d, i), y, shorter, 1);
        drop(y);
        const darray integers = converted(y, x, column_of(d, i), HA_DTYPE_int64_t, at[i]);
        compare(x, column_of(d, i), y, integers, 1);
        drop(y);
    }
    drop(x);
}

/* Rows on one device, boxes on another, and columns on the host. */
static void play_plans(void) {
    model *x = &models[0], *y = &models[1], *z = &models[2];
    const darray d = begin_table(x, 2, six_by_eight, N1), e = begin_table(y, 2, six_by_eight, F1),
                 f = begin_table(z, 2, six_by_eight, H);
    const plan_pair pairs[] = {
        {y, x, row_of(e, 0), row_of(d, 1), N1},
        {y, x, column_of(darray_slice(e, 0, 1, 6, 1), 0), column_of(darray_slice(d, 0, 0, 5, 1), 5),
         F1},
        {z, x, darray_flip(row_of(f, 2), 1), row_of(d, 4), N1},
        {z, x, darray_slice(row_of(f, 3), 1, 0, 4, 1), darray_slice(row_of(d, 4), 1, 4, 8, 1), F1}};
    const size_t n = sizeof pairs / sizeof *pairs;
    ha_copy_plan *plan = NULL;
    STEP(NULL, NULL, plans(&plan, pairs, n));
    ha_context *const at[] = {N1, F1, H, N1_fork};
    for (int i = 0; i < 4; i++) {
        change_view(x, row_of(d, 1), at[i], 2, 1);
        change_view(x, column_of(d, 5), at[(i + 1) % 4], 2, 1);
        change_view(y, row_of(e, 0), at[i], 1, 1);
        change_view(z, row_of(f, 3), at[i], 1, 1);
        run_plan(plan, pairs, n, N1);
        sum_view(y, e, at[i]);
    }
    ha_copy_plan_free(plan);
    read_back(y);
    read_back(z);
    drop(x);
    drop(y);
    drop(z);
}

/* All of it on one device: by one command, where it has that; and where all is in place, without more ado. */
static void play_plans_there(void) {
    model *x = &models[0], *y = &models[1];
    const darray d = begin_table(x, 2, six_by_eight, N1), e = begin_table(y, 2, six_by_eight, N1);
    const plan_pair pairs[] = {
        {y, x, row_of(e, 0), row_of(d, 1), N1},
        {y, x, column_of(darray_slice(e, 0, 1, 6, 1), 0), column_of(darray_slice(d, 0, 0, 5, 1), 5),
         N1},
        {y, x, row_of(darray_slice(e, 1, 1, 8, 1), 3), row_of(darray_slice(d, 1, 1, 8, 1), 4), N1}};
    const size_t n = sizeof pairs / sizeof *pairs;
    ha_copy_plan *plan = NULL;
    STEP(NULL, NULL, plans(&plan, pairs, n));
    for (int i = 0; i < 2; i++) {
        change_view(x, d, N1, 2, 1);
        change_view(y, e, N1, 1, 1);
        run_plan(plan, pairs, n, N1);
        run_plan(plan, pairs, n, N1);
        sum_view(y, e, N1);
    }
    ha_copy_plan_free(plan);
    read_back(y);
    drop(x);
    drop(y);
}

static const chapter chapters[] = {
    {"copies there", play_there, 0},      {"copies on the host", play_host, 0},
    {"copies through", play_through, 0},  {"contents", play_contents, 0},
    {"new arrays", play_new_arrays, 0},   {"plans", play_plans, 0},
    {"plans there", play_plans_there, 0},
};

int main(int argc, char **argv) {
    return run_chapters("failure loop of copies", chapters, sizeof chapters / sizeof *chapters,
                        argc, argv);
}
