/* The steps of a script that are about library calls: waiting for an access, reading anywhere,
 * tokens, opening many arrays at once. As in model_steps.h. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_LIBRARY_H
#define HARRAY_TESTS_SCHEDULES_MODEL_LIBRARY_H

#include "model_steps.h"

/* ---- ready accesses ------------------------------------------------------------------------ */

/* Whether a library that ignores queues may use the data of an access that was waited for: work
 * that was enqueued since it was opened is not waited for. */
static int is_untouched(const model_access *x) { return !has_alias(x) && !(x->writes && x->used); }

static void touch_as_library(const model_access *x) {
    hb_touch(HB_HOST, x->access.data, x->access.size * sizeof(uint32_t), x->writes,
             "a library's use");
}

static void wait_access(const model_access *x) {
    ha_access *access = (ha_access *)(uintptr_t)&x->access;
    note("wait for");
    note_access(x);
    world_may_wait();
    expect(ha_wait(access), HA_OK);
    if (is_untouched(x)) touch_as_library(x);
}

static void step_wait(void) {
    const model_access *x = pick_access();
    if (x != NULL) wait_access(x);
}

static int is_valid_at(const model_contents *is, ha_range r, int memory) {
    int valid = 1;
    for (size_t i = r.first; i < r.last; i++) valid &= is->valid[memory][i];
    return valid;
}

/* Whether a context is the right one to read r at: the host, else any memory where r is valid. In
 * the middle of another step, not all that this will bring is there yet. */
static int is_right_place(const model_contents *is, ha_range r, int c, int otherwise) {
    int anywhere = is_valid_at(is, r, 0);
    if (model.nested && c == otherwise) return 1;
    if (anywhere && !model.nested) return c == 0;
    for (int m = 1; m < model.memories; m++) anywhere |= is_valid_at(is, r, m);
    return anywhere ? is_valid_at(is, r, model.context[c].memory) : c == otherwise;
}

static int context_index(const ha_context *context) {
    int c = 0;
    while (c < model.contexts - 1 && model.context[c].context != context) c++;
    return c;
}

/* Where it is valid before counts: it is brought somewhere in the call only if it is nowhere. */
static void step_read_anywhere(void) {
    model_access *x = free_access();
    model_opening o;
    if (x == NULL || !pick_opening(&o)) return;
    o.mode = HA_READ;
    if (o.sets_size) o.locked = HA_WHOLE_;
    o.sets_size = 0;
    const ha_status wanted = expect_opening(&o);
    if (wanted == HA_ERR_BUSY) return; /* it would wait for another thread */
    if (is_short_anywhere(&model.array[o.array])) return;
    note("read anywhere, otherwise: ");
    note_opening(&o, 0);
    world_may_wait();
    model_array *a = &model.array[o.array];
    const model_contents before = a->is;
    const ha_range r = opening_range(&o);
    const int otherwise = o.context;
    *x = model_access_of(&o, wanted == HA_ERR_CONFLICT ? CLOSED : OPENING);
    if (wanted == HA_OK && is_right_place(&before, r, o.context, o.context) &&
        !is_valid_at(&before, r, 0) && !model.nested)
        apply_opening(&o); /* changes nothing where it is valid there already */
    const ha_status got = ha_read_anywhere(&x->access, a->array, model.context[o.context].context,
                                           o.locked.first, o.locked.last);
    x->progress = got == HA_OK ? OPEN : CLOSED;
    expect(got, wanted);
    if (got != HA_OK) return;
    x->context = o.context = context_index(x->access.context);
    if (model.nested) apply_opening(&o);
    if (!is_right_place(&before, r, x->context, otherwise))
        model_fail("step %u: read at %s", hb.step, context_name(x->context));
    check_access(x);
    touch_as_library(x);
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* Any thread's. */
static model_access *pick_token(void) {
    const uint32_t first = pick(MODEL_ACCESSES);
    for (uint32_t i = 0; i < MODEL_ACCESSES; i++) {
        model_access *x = &model.access[(first + i) % MODEL_ACCESSES];
        if (x->progress == DETACHED && !model.array[x->array].reserved) return x;
    }
    return NULL;
}

/* Its data are remembered, for whoever uses them. */
static void detach_access(model_access *x) {
    ha_access open = x->access;
    note("detach");
    note_access(x);
    x->token = (ha_token){NULL, NULL, 0};
    expect(ha_detach(&x->token, &x->access), HA_OK);
    if (x->access.array != NULL || x->access.data != NULL) model_fail("detached, but open");
    x->access = open;
    x->progress = DETACHED;
    if (!pick_one_in(8)) return;
    note(", and close it");
    expect(ha_close(&open), HA_ERR_STATE);
}

static void step_detach(void) {
    model_access *x = pick_access();
    if (x != NULL) detach_access(x);
}

static void end_token_at(model_access *x, int c) {
    note(", ends at %s", context_name(c));
    expect(ha_token_end_at(&x->token, model.context[c].context), HA_OK);
}

/* By whoever has it. While the library waits or makes room, other threads' steps find the array
 * locked as before. */
static void end_token(model_access *x) {
    const uint32_t kind = pick(is_usable(&model.array[x->array]) ? 3 : 2);
    note("token of");
    note_access(x);
    x->progress = ENDING; /* still locked, and nobody else's to end */
    if (kind == 2) {
        end_token_at(x, pick_context());
    } else if (kind == 1) {
        world_may_wait();
        note(" is waited for");
        expect(ha_token_wait(&x->token), HA_OK);
    } else {
        note(" ends");
        expect(ha_token_finish(&x->token), HA_OK);
    }
    x->progress = CLOSED;
    if (x->token.array != NULL) model_fail("ended, but not zeroed");
    if (!pick_one_in(16)) return;
    note(", and again");
    expect(ha_token_finish(&x->token), HA_ERR_STATE);
}

static void step_end_token(void) {
    model_access *x = pick_token();
    if (x != NULL) end_token(x);
}

/* Work of the access's own context, while it is detached. */
static void step_use_token(void) {
    model_access *x = pick_token();
    if (x != NULL && x->access.size > 0) use_access(x);
}

/* A queue that harray knows nothing of: of the same memory, or of any device for the host's. */
static int pick_other_queue(const model_access *x) {
    const int c = pick_context(), memory = model.context[x->context].memory;
    return model.context[c].memory == memory || memory == 0 ? c : x->context;
}

/* What an access is waited for, detached, worked on in another queue, and ended there. */
static void step_library(void) {
    model_access *x = pick_access();
    if (x == NULL || x->access.size == 0 || !is_untouched(x)) return;
    if (!is_usable(&model.array[x->array])) return; /* ending waits until it is no longer busy */
    const int c = pick_other_queue(x), own = x->context;
    wait_access(x);
    note("; ");
    detach_access(x);
    x->progress = ENDING; /* still locked, and nobody else's to end */
    note("; at %s: ", context_name(c));
    x->context = c; /* for what is enqueued */
    use_access(x);
    x->context = own;
    end_token_at(x, c);
    x->progress = CLOSED;
}

/* ---- many at once -------------------------------------------------------------------------- */

enum { MODEL_MANY = 3 };

typedef struct model_request {
    model_opening opening;
    model_access *access;
    size_t place; /* in the list */
} model_request;

/* By array, reads first. */
static int comes_before(const model_request *x, const model_request *y) {
    const uintptr_t a = (uintptr_t)model.array[x->opening.array].array;
    const uintptr_t b = (uintptr_t)model.array[y->opening.array].array;
    const int writes = x->opening.mode != HA_READ, its = y->opening.mode != HA_READ;
    if (a != b) return a < b;
    return writes != its ? writes < its : x->place < y->place;
}

static void sort_requests(model_request *r, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && comes_before(&r[k], &r[k - 1]); k--) {
            const model_request other = r[k];
            r[k] = r[k - 1];
            r[k - 1] = other;
        }
}

/* At most one of them gets another size: that takes two blocks. */
static size_t pick_requests(model_request *r) {
    const size_t most = 2 + pick(MODEL_MANY - 1);
    size_t count = 0;
    int sets_size = 0;
    for (int i = 0; i < MODEL_ACCESSES && count < most; i++) {
        if (model.access[i].progress != CLOSED || !pick_opening(&r[count].opening)) continue;
        if (sets_size && r[count].opening.sets_size) continue;
        sets_size |= r[count].opening.sets_size;
        r[count].access = &model.access[i];
        r[count].place = count;
        count++;
    }
    return count;
}

/* Room is looked for when all of an array are admitted: whether one of these is refused before that. */
static ha_status expect_group_anyhow(model_request *r, size_t count) {
    ha_status status = HA_OK;
    for (size_t i = 0; i < count && status == HA_OK; i++) {
        status = expect_holder_anyhow(&r[i].opening);
        if (status == HA_OK) *r[i].access = model_access_of(&r[i].opening, OPENING);
    }
    return status;
}

/* All of one array: refused, admitted one after the other, then looked at. The holders are left in
 * place. */
static ha_status expect_group(model_request *r, size_t count) {
    ha_status status = HA_OK;
    for (size_t i = 0; i < count && status == HA_OK; i++) status = expect_refusal(&r[i].opening);
    for (size_t i = 0; i < count && status == HA_OK; i++) {
        status = expect_holder(&r[i].opening);
        if (status == HA_OK) *r[i].access = model_access_of(&r[i].opening, OPENING);
        if (status != HA_OK && expect_group_anyhow(&r[i], count - i) == HA_ERR_CONFLICT)
            status = HA_ERR_CONFLICT;
    }
    for (size_t i = 0; i < count && status == HA_OK; i++) status = expect_contents(&r[i].opening);
    return status;
}

static ha_status expect_many(model_request *r, size_t count) {
    ha_status status = HA_OK;
    for (size_t first = 0, end; first < count && status == HA_OK; first = end) {
        for (end = first + 1; end < count && r[end].opening.array == r[first].opening.array;) end++;
        status = expect_group(&r[first], end - first);
    }
    return status;
}

static ha_request request_of(const model_request *r, unsigned trying) {
    const model_opening *o = &r->opening;
    return (ha_request){.access = &r->access->access,
                        .array = model.array[o->array].array,
                        .context = model.context[o->context].context,
                        .how = o->mode | trying,
                        .first = o->sets_size ? 0 : o->locked.first,
                        .last = o->sets_size ? 0 : o->locked.last,
                        .sets_size = o->sets_size,
                        .n = o->size};
}

static void reserve_many(const model_request *r, size_t count, int reserved) {
    for (size_t i = 0; i < count; i++) model.array[r[i].opening.array].reserved = reserved;
}

/* Sorted as they are prepared and committed. */
static void apply_many(const model_request *r, size_t count, ha_status got) {
    for (size_t i = 0; i < count; i++) {
        r[i].access->progress = got == HA_OK ? OPEN : CLOSED;
        if (got == HA_OK)
            apply_opening(&r[i].opening);
        else
            adopt_valid(&model.array[r[i].opening.array], 0);
    }
    for (size_t i = 0; i < count && got == HA_OK; i++) check_access(r[i].access);
}

/* Other threads' steps leave the arrays alone meanwhile: they would see some of them locked. */
static void step_open_many(void) {
    model_request r[MODEL_MANY];
    ha_request list[MODEL_MANY];
    const size_t count = pick_requests(r);
    if (count == 0) return;
    note("together:");
    for (size_t i = 0; i < count; i++) {
        note(" ");
        note_opening(&r[i].opening, 0);
    }
    world_may_wait();
    sort_requests(r, count);
    const ha_status wanted = expect_many(r, count);
    const unsigned trying = wanted == HA_ERR_BUSY || pick(2) ? HA_TRY : HA_WAIT;
    for (size_t i = 0; i < count; i++)
        list[r[i].place] = request_of(&r[i], r[i].place == 0 ? trying : 0);
    for (size_t i = 0; i < count; i++) *r[i].access = model_access_of(&r[i].opening, OPENING);
    reserve_many(r, count, 1);
    const ha_status got = ha_open_many(list, count);
    reserve_many(r, count, 0);
    expect(got, wanted);
    apply_many(r, count, got);
}

#endif
