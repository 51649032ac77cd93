/* Chapters of the failure loop (test_failure.c): what serves library calls. Tokens, opening many
 * arrays at once, waiting, reading anywhere. */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_LIBRARY_H
#define HARRAY_TESTS_FAILURE_FAILURE_LIBRARY_H

#include "failure_steps.h"

/* ---- tokens --------------------------------------------------------------------------------- */

/* Work on an access that is then detached. */
static ha_token begin_token(model *m, ha_context *c, unsigned how, size_t first, size_t last) {
    ha_token token = {NULL, NULL, 0};
    ha_access v;
    open_step(&v, m, c, how, first, last);
    if (how == HA_WRITE) compute(m, &v, 2, 1, 0);
    if (how == HA_READ) compute_sum(m, &v);
    SURELY(ha_detach(&token, &v));
    return token;
}

static void expect_over(const ha_token *token) {
    EXPECT(!token->array && !token->context && !token->ticket, "the token has something left");
}

/* It ends also when waiting fails. */
static ha_status waits_for_token(ha_token *token) {
    if (!token->array) return HA_OK;
    ha_status s = ha_token_wait(token);
    expect_over(token);
    return s;
}

static void wait_step(model *m, ha_token *token) {
    run.lets_go = m;
    STEP(m, NULL, waits_for_token(token));
    run.lets_go = NULL;
}

static ha_status ends_at(ha_token *token, ha_context *c) {
    const ha_token was = *token;
    ha_status s = ha_token_end_at(token, c);
    EXPECT(!s || !memcmp(&was, token, sizeof was), "failing has changed the token");
    if (!s) expect_over(token);
    return s;
}

/* The event of the private backend is behind everything that is enqueued there. */
static ha_status ends_after(ha_token *token, ha_context *c) {
    const ha_token was = *token;
    ha_event event = {NULL, 0};
    EXPECT(example_record(c->queue, &event) == HA_OK, "no event");
    ha_status s = ha_token_end_after(token, c, &event);
    EXPECT(!s || !memcmp(&was, token, sizeof was), "failing has changed the token");
    if (!s) expect_over(token);
    return s;
}

static ha_context *private_context(void) {
    return strcmp(run.cast->near, "faulty_private") ? F1 : N1;
}

static void end_tokens_at(ha_context *c, ha_context *queue) {
    model *x = &models[0];
    ha_token t;
    for (size_t i = 0; i < 6; i++) {
        t = begin_token(x, c, i % 2 ? HA_READ : HA_WRITE, i, i + 5);
        STEP(x, NULL, ends_at(&t, queue));
    }
    sum(x, F1, 0, HA_END);
    change(x, H, 0, HA_END, 1, 1);
}

static void play_tokens(void) {
    model *x = &models[0];
    begin(x, 20, H);
    ha_token t = begin_token(x, N1, HA_WRITE, 0, HA_END);
    SURELY(ha_token_finish(&t));
    ha_context *const places[] = {N1, F1, H};
    for (size_t i = 0; i < 3; i++) {
        t = begin_token(x, places[i], HA_WRITE, 0, HA_END);
        wait_step(x, &t);
    }
    end_tokens_at(N1, N1_fork);
    end_tokens_at(F1_fork, N1);
    end_tokens_at(H, F1);
    for (size_t i = 0; i < 3; i++) {
        t = begin_token(x, places[i], HA_WRITE, i, 18);
        STEP(x, NULL, ends_after(&t, private_context()));
    }
    read_back(x);
}

/* ---- many at once --------------------------------------------------------------------------- */

static ha_status opens_many(ha_access *v, ha_request *list, size_t count) {
    memset(v, 0xAA, count * sizeof *v);
    ha_status s = ha_open_many(list, count);
    for (size_t i = 0; i < count && s; i++)
        EXPECT(!v[i].data && !v[i].size && !v[i].array && !v[i].context && v[i].status,
               "a failed opening leaves something in an access");
    return s;
}

/* x is read and then changed at c, y overwritten with n elements, and changed in parts where there
 * is no size to set. */
static void open_many(ha_context *c, ha_context *other, size_t n) {
    model *x = &models[0], *y = &models[1];
    ha_access v[3];
    ha_request whole[] = {
        {.access = &v[2],
         .array = y->array,
         .context = other,
         .how = HA_OVERWRITE,
         .last = 0,
         .sets_size = 1,
         .n = n},
        {.access = &v[1], .array = x->array, .context = c, .how = HA_WRITE, .last = HA_END},
        {.access = &v[0], .array = x->array, .context = c, .how = HA_READ, .last = HA_END}};
    STEP_OF_TWO(x, y, c, opens_many(v, whole, 3));
    has(y, n, UNDEFINED, 0, 0);
    compute(x, &v[1], 2, 1, 0);
    compute(y, &v[2], 0, 5, 1);
    for (size_t i = 0; i < 3; i++) close_step(&v[i]);
    ha_request parts[] = {
        {.access = &v[0], .array = x->array, .context = c, .how = HA_WRITE, .first = 2, .last = 9},
        {.access = &v[1], .array = y->array, .context = c, .how = HA_READ, .last = 3},
        {.access = &v[2],
         .array = x->array,
         .context = H,
         .how = HA_WRITE,
         .first = 9,
         .last = 11}};
    STEP_OF_TWO(x, y, c, opens_many(v, parts, 3));
    compute(x, &v[0], 1, 1, 0);
    compute(x, &v[2], 1, 2, 0);
    compute_sum(y, &v[1]);
    for (size_t i = 0; i < 3; i++) close_step(&v[i]);
}

static void play_many(void) {
    model *x = &models[0], *y = &models[1];
    begin(x, 20, H);
    begin(y, 10, N1);
    open_many(N1, N1, 10);
    open_many(F1, F1, 25);
    open_many(N1, H, 30);
    open_many(F1_fork, F2, 31);
    read_back(x);
    read_back(y);
}

/* ---- waiting, reading anywhere -------------------------------------------------------------- */

static ha_status reads_anywhere(ha_access *v, const model *m, ha_context *otherwise) {
    memset(v, 0xAA, sizeof *v);
    ha_status s = ha_read_anywhere(v, m->array, otherwise, 0, HA_END);
    EXPECT(v->status == s, "the access has another status");
    EXPECT(!s || (!v->data && !v->size && !v->array && !v->context),
           "a failed opening leaves something in the access");
    return s;
}

/* What was brought stays as one more copy when waiting for it fails; so does what is staged. */
static void read_anywhere_step(model *m, ha_context *otherwise, const ha_context *expected) {
    ha_access v;
    run.source = m;
    STEP(m, otherwise, reads_anywhere(&v, m, otherwise));
    run.source = NULL;
    EXPECT(v.context == expected || (run.spent && v.context == H), "read at %s", v.context->name);
    compute_sum(m, &v);
    close_step(&v);
}

static void play_ready(void) {
    model *x = &models[0];
    ha_access v;
    ha_context *const places[] = {N1, F1, N1_fork, H};
    begin(x, 20, H);
    for (size_t i = 0; i < 4; i++) {
        change(x, places[(i + 1) % 4], 0, HA_END, 1, 1);
        open_step(&v, x, places[i], i % 2 ? HA_READ : HA_WRITE, 0, HA_END);
        STEP(x, NULL, ha_wait(&v));
        close_step(&v);
    }
    read_anywhere_step(x, N1, H);
    change(x, F1_fork, 0, HA_END, 1, 1);
    read_anywhere_step(x, N1, F1);
    change(x, N1, 0, 5, 1, 1);
    read_anywhere_step(x, N2, N2);
    change(x, N1, 0, 5, 1, 1);
    fill(x, F1, 0, 2, 3);
    read_anywhere_step(x, H, H);
    read_back(x);
}

#endif
