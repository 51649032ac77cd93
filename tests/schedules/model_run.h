/* Running a script: its kind, its steps, what happens in the middle of calls, and its end. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_RUN_H
#define HARRAY_TESTS_SCHEDULES_MODEL_RUN_H

#include "model_library.h"

typedef struct step_kind {
    void (*run)(void);
    unsigned char weight[4]; /* in each kind of script; the weights add up to at most 256 */
    unsigned char nested;    /* in the middle of another step's call */
} step_kind;

enum { MIXED, PILING, WHOLE, GROWING, SCRIPT_KINDS };

static const step_kind step_kinds[] = {
    /* mixed, piling, whole, growing; nested */
    {step_open, {45, 86, 32, 39}, 40},     {step_failing_open, {4, 4, 4, 4}, 0},
    {step_close, {37, 84, 33, 43}, 25},    {step_use, {41, 60, 21, 18}, 50},
    {step_prefetch, {14, 5, 10, 10}, 14},  {step_sync, {3, 1, 3, 3}, 2},
    {step_get, {3, 0, 3, 2}, 2},           {step_set, {4, 1, 4, 3}, 2},
    {step_resize, {8, 0, 6, 36}, 0},       {step_access_resize, {8, 0, 4, 20}, 0},
    {step_reserve, {4, 0, 3, 4}, 0},       {step_purge, {3, 0, 6, 4}, 0},
    {step_swap, {4, 0, 12, 4}, 0},         {step_take, {3, 0, 12, 4}, 0},
    {step_assign, {5, 0, 16, 6}, 0},       {step_assign_at, {5, 0, 16, 6}, 0},
    {step_copy, {4, 0, 12, 4}, 0},         {step_renew, {4, 0, 8, 4}, 0},
    {step_owners, {3, 0, 4, 2}, 0},        {step_move, {4, 2, 3, 3}, 0},
    {step_close_foreign, {1, 0, 1, 1}, 0}, {step_finish, {2, 0, 1, 1}, 3},
    {step_advance, {14, 0, 12, 8}, 6},     {step_hold, {4, 0, 4, 4}, 2},
    {step_idle, {1, 0, 1, 1}, 0},          {step_settle, {1, 0, 1, 1}, 0},
    {step_cache, {3, 1, 3, 3}, 2},         {step_use_token, {1, 0, 1, 1}, 1},
    {step_wait, {3, 2, 2, 2}, 2},          {step_read_anywhere, {3, 1, 3, 2}, 2},
    {step_detach, {4, 2, 3, 3}, 2},        {step_end_token, {6, 3, 5, 5}, 4},
    {step_library, {3, 1, 3, 2}, 2},       {step_open_many, {4, 3, 4, 3}, 0},
};
enum { STEP_KINDS = sizeof step_kinds / sizeof *step_kinds };

static unsigned step_weight(const step_kind *kind, int script_kind) {
    return model.nested ? kind->nested : kind->weight[script_kind];
}

/* A step that finds nothing to do writes nothing. */
static void do_step(void (*run)(void)) {
    note_room(sizeof script.text / 4);
    const size_t before = script.length;
    hb.step = ++model.steps;
    note_step();
    const size_t begun = script.length;
    run();
    if (script.length != begun)
        model.operations++;
    else
        script.text[script.length = before] = '\0';
}

static void run_step(int script_kind) {
    uint32_t sum = 0;
    int i = 0;
    for (int k = 0; k < STEP_KINDS; k++) sum += step_weight(&step_kinds[k], script_kind);
    uint32_t n = pick(sum);
    while (n >= step_weight(&step_kinds[i], script_kind))
        n -= step_weight(&step_kinds[i++], script_kind);
    do_step(step_kinds[i].run);
}

/* ---- between ------------------------------------------------------------------------------- */

static uint32_t between_rarity; /* one call in so many is disturbed; 0: none */

/* In the middle of a call of the backend: the library holds no lock, and other threads go on. */
static void step_between(const char *slot) {
    (void)slot;
    const uint32_t step = hb.step;
    const int me = model.current;
    if (model.nested || model.failed || between_rarity == 0 || !pick_one_in(between_rarity)) return;
    const int records_fail = order_records_fail, full = order_full, fail_in = order_fail_in;
    order_records_fail = order_full = order_fail_in = 0;
    model.nested = 1;
    model_become((me + 1 + (int)pick(MODEL_THREADS - 1)) % MODEL_THREADS);
    for (uint32_t n = 1 + pick(3); n > 0 && !model.failed; n--) run_step(MIXED);
    model_become(me);
    note("\n          ");
    model.nested = 0;
    order_records_fail = records_fail;
    order_full = full;
    order_fail_in = fail_in;
    hb.step = step;
}

/* ---- a script ------------------------------------------------------------------------------ */

typedef struct script_options {
    uint64_t seed;
    const uint8_t *bytes; /* NULL: random */
    size_t count;
    uint32_t steps; /* at most */
    int sim;        /* which world: model.h */
} script_options;

static int script_kind;

enum { PILE = 300 }; /* steps until something has piled up */

/* Blocks for all arrays, one that is growing or being copied, one for a step in between, one to
 * pass values through: then retired ones have to be waited for, but it always suffices. */
enum { TIGHT = MODEL_ARRAYS + 3 };

/* Without a cache, whoever needs memory meets the backend. */
static void forbid_caches(void) {
    for (int c = 0; c < model.contexts; c++)
        expect(ha_memory_set_cache(model.context[c].context, 0), HA_OK);
}

static void choose_kind(const script_options *options) {
    static const uint32_t rarities[] = {0, 3, 12, 40};
    const uint32_t nears[] = {0, 3, (uint32_t)model.contexts - 1};
    script_kind = (int)pick(SCRIPT_KINDS);
    taste.small = script_kind == PILING;
    taste.elsewhere = script_kind == PILING ? 100 : 6;
    taste.near = script_kind == PILING ? 3 : nears[pick(3)];
    between_rarity = options->sim ? 0 : rarities[script_kind == PILING ? 3 * pick(2) : pick(4)];
    if (!options->sim && pick_one_in(4)) order_capacity = TIGHT;
    const int caches = (int)pick(2);
    if (!caches) forbid_caches();
    note("kind %d, disturbed %u, peers %d, %d blocks, %s", script_kind, between_rarity, model.peers,
         order_capacity, caches ? "cached" : "no cache");
}

/* In one script of four some do. */
static int devices_that_share(uint64_t seed) {
    return seed % 4 == 3 ? 1 + (int)(seed / 4 % ((1 << ORDER_DEVICES) - 1)) : 0;
}

static void begin_script(const script_options *options) {
    script_begin(options->seed, options->bytes, options->count);
    world_begin(options->sim, pick_one_in(4), devices_that_share(options->seed));
    choose_kind(options);
    for (int i = 0; i < MODEL_ARRAYS && !model.failed; i++) {
        note_step();
        make_array(&model.array[i]);
    }
    order_disturb = step_between;
}

/* With work still enqueued, or everything settled and right. */
static void end_script(void) {
    order_disturb = NULL;
    hb.step = ++model.steps;
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        if (model.access[i].progress == CLOSED) continue;
        model_become(model.access[i].thread);
        note_step();
        if (model.access[i].progress == DETACHED)
            end_token(&model.access[i]);
        else
            close_access(&model.access[i]);
    }
    if (pick(3)) do_step(step_settle);
    look_at_all();
    for (int i = 0; i < MODEL_ARRAYS && !model.failed; i++) {
        while (model.array[i].owners-- > 1) HA_CHECK(ha_array_free(model.array[i].array));
        note_step();
        free_array(&model.array[i]);
    }
    world_may_wait();
    if (!model.failed) world_end();
}

/* Runs one. 0: everything was as it should be; else model.failure says what was not, and nothing is
 * given back. */
static int run_script(const script_options *options) {
    ha_self = (ha_thread){0};
    begin_script(options);
    const uint32_t most = options->steps;
    const uint32_t steps = script_kind == PILING && most < PILE ? PILE : most;
    for (uint32_t i = 0; i < steps && !model.failed && !script_has_ended(); i++) {
        model_become((int)pick(MODEL_THREADS));
        run_step(script_kind);
        if (!model.failed) look_at_all();
    }
    if (!model.failed) end_script();
    return model.failed;
}

/* A number in an environment variable. */
static HA_UNUSED uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static void print_script(const script_options *options) {
    static const char *const worlds[] = {"", " on sim", " on managed CUDA", " on CUDA"};
    fprintf(stderr, "seed %llu%s:%s\nFAILED: %s\n", (unsigned long long)options->seed,
            worlds[options->sim], script.text, model.failure);
}

#endif
