/* The protocol by which an array gives way (harray/impl/access/make_room.h), as a model of one array in two memories, and all
 * orders in which its steps can happen: two threads that evict it from the device, one that evicts it from the host, one that writes it, and
 * a queue whose copies may fail. With all rules its latest value is, at every moment, somewhere where it stays, and nobody uses memory that
 * has gone. Without any one of them that is not so: each rule is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef enum rule {
    ONE_AT_A_TIME,       /* who evicts has the array busy */
    NOT_UNDER_AN_ACCESS, /* what is open stays */
    NOT_BEFORE_ARRIVAL,  /* what is on its way has not arrived */
    LOOK_AGAIN,          /* after waiting, what is there then counts */
    FAILED_IS_NOT_VALID, /* a copy that failed has brought nothing */
    ONLY_IF_ELSEWHERE,   /* also on the host */
    NOT_UNDER_A_QUEUE,   /* what a copy still writes to stays */
    RULES
} rule;

static const char *const names[] = {"one at a time",    "not under an access", "not before arrival",
                                    "look again",       "failed is not valid", "only if elsewhere",
                                    "not under a queue"};

enum { DEVICE, HOST, MEMORIES };
enum { EVICT_1, EVICT_2, EVICT_HOST, WRITE, THREADS };
enum { WRITES = 2, COPIES = 3 };
enum { NO_COPY, UNDER_WAY, HAS_FAILED }; /* of the copy from the device to the host */

/* A byte each, so that states can be compared. */
typedef struct state {
    uint8_t at[THREADS]; /* the next step of each; 9: it is over */
    uint8_t block[MEMORIES], valid[MEMORIES], value[MEMORIES];
    uint8_t copy, copies;
    uint8_t busy, open; /* whose the array is: a thread and 1; whether the writer has it open */
    uint8_t latest, writes;
    uint8_t wrong;
} state;

/* ---- what holds in every state ------------------------------------------------------------------- */

static int arrived(const state *s, int memory) {
    return s->block[memory] && s->valid[memory] && !(memory == HOST && s->copy == UNDER_WAY);
}

static int is_right(const state *s) {
    int somewhere = 0;
    for (int m = 0; m < MEMORIES; m++) {
        somewhere |= arrived(s, m) && s->value[m] == s->latest;
        if (arrived(s, m) && s->value[m] != s->latest) return 0;
    }
    return somewhere && !s->wrong && !(s->open && !s->block[DEVICE]);
}

/* ---- steps: 1 when the thread could do something --------------------------------------------------- */

static unsigned without; /* the rule that is left out, as a bit */
static int holds(rule r) { return !(without >> r & 1); }

static int take(state *s, int thread) {
    if (holds(ONE_AT_A_TIME) && s->busy) return 0;
    if (!s->busy) s->busy = (uint8_t)(thread + 1);
    return 1;
}
static void leave(state *s, int thread) {
    if (s->busy == thread + 1) s->busy = 0;
}

static int is_elsewhere(const state *s, int memory) {
    const int other = memory == DEVICE ? HOST : DEVICE;
    return holds(NOT_BEFORE_ARRIVAL) ? arrived(s, other) : s->block[other] && s->valid[other];
}

static void drop(state *s, int memory) { s->block[memory] = s->valid[memory] = 0; }

static void send(state *s) {
    s->copy = UNDER_WAY;
    s->copies++;
    s->block[HOST] = s->valid[HOST] = 1;
}

/* 0: find out whether it may go. 1: it is not elsewhere: send it. 2: wait. 3: it is: drop it. */
static int evict(state *s, int thread) {
    switch (s->at[thread]) {
    case 0:
        if (s->busy && holds(ONE_AT_A_TIME)) return 0;
        if (!s->block[DEVICE] || (s->open && holds(NOT_UNDER_AN_ACCESS))) {
            s->at[thread] = 9;
            return 1;
        }
        (void)take(s, thread);
        s->at[thread] = is_elsewhere(s, DEVICE) || !s->valid[DEVICE] ? 3 : 1;
        return 1;
    case 1:
        if (s->copy != UNDER_WAY && s->copies == COPIES) {
            leave(s, thread);
            s->at[thread] = 9;
            return 1;
        }
        if (s->copy != UNDER_WAY) send(s);
        leave(s, thread);
        s->at[thread] = 2;
        return 1;
    case 2:
        if (s->copy == UNDER_WAY) return 0;
        s->at[thread] = holds(LOOK_AGAIN) ? 0 : 3;
        return 1;
    case 3:
        drop(s, DEVICE);
        leave(s, thread);
        s->at[thread] = 9;
        return 1;
    default:
        return 0;
    }
}

static int evict_host(state *s) {
    if (s->at[EVICT_HOST] == 0) {
        if (!take(s, EVICT_HOST)) return 0;
        const int stays = !s->block[HOST] || (holds(NOT_UNDER_A_QUEUE) && s->copy == UNDER_WAY) ||
                          (holds(ONLY_IF_ELSEWHERE) && !is_elsewhere(s, HOST));
        s->at[EVICT_HOST] = stays ? 2 : 1;
        return 1;
    }
    if (s->at[EVICT_HOST] > 2) return 0;
    if (s->at[EVICT_HOST] == 1) drop(s, HOST);
    leave(s, EVICT_HOST);
    s->at[EVICT_HOST] = 9;
    return 1;
}

/* 0: have it busy, fetch what is missing, open it. 1: write, when nobody reads the block any more. 2: close. */
static int write_it(state *s) {
    switch (s->at[WRITE]) {
    case 0:
        if (s->copy == UNDER_WAY || !take(s, WRITE)) return 0;
        if (!s->valid[DEVICE]) {
            if (!arrived(s, HOST)) s->wrong = 1;
            s->block[DEVICE] = s->valid[DEVICE] = 1;
            s->value[DEVICE] = s->value[HOST];
        }
        s->open = 1;
        s->valid[HOST] = 0;
        leave(s, WRITE);
        s->at[WRITE] = 1;
        return 1;
    case 1:
        s->value[DEVICE] = ++s->latest;
        s->at[WRITE] = 2;
        return 1;
    case 2:
        s->open = 0;
        s->at[WRITE] = ++s->writes == WRITES ? 9 : 0;
        return 1;
    default:
        return 0;
    }
}

/* The queue, and whether its copy fails. */
static int copy(state *s, int fails) {
    if (s->copy != UNDER_WAY) return 0;
    if (!s->block[DEVICE] || !s->block[HOST]) s->wrong = 1; /* memory that has gone */
    s->copy = fails ? HAS_FAILED : NO_COPY;
    if (!fails) s->value[HOST] = s->value[DEVICE];
    if (fails && holds(FAILED_IS_NOT_VALID)) s->valid[HOST] = 0;
    return 1;
}

static int step(state *s, int who) {
    switch (who) {
    case EVICT_1:
    case EVICT_2:
        return evict(s, who);
    case EVICT_HOST:
        return evict_host(s);
    case WRITE:
        return write_it(s);
    default:
        return copy(s, who - THREADS);
    }
}

/* ---- all orders --------------------------------------------------------------------------------- */

enum { MOST = 1 << 20 };
static state *seen[MOST]; /* by hash */
static state pending[MOST];

static int is_new(const state *s) {
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < sizeof *s; i++)
        hash = (hash ^ ((const uint8_t *)s)[i]) * UINT64_C(1099511628211);
    size_t at = (size_t)(hash % MOST);
    for (; seen[at]; at = (at + 1) % MOST)
        if (!memcmp(seen[at], s, sizeof *s)) return 0;
    seen[at] = malloc(sizeof *s);
    assert_non_null(seen[at]);
    *seen[at] = *s;
    return 1;
}

static void forget(void) {
    for (size_t i = 0; i < MOST; i++) free(seen[i]);
    memset(seen, 0, sizeof seen);
}

/* Whether all states that can be reached are right. *states: how many these are, *ends: in how many nobody can go on. */
static int search(size_t *states, size_t *ends) {
    const state first = {.block = {1, 0}, .valid = {1, 0}, .value = {0, 0}};
    size_t n = 0;
    int right = 1;
    *states = *ends = 0;
    (void)is_new(&first);
    pending[n++] = first;
    while (n && right) {
        const state s = pending[--n];
        int goes_on = 0;
        ++*states;
        for (int who = 0; who < THREADS + 2; who++) {
            state next = s;
            if (!step(&next, who)) continue;
            goes_on = 1;
            right &= is_right(&next) ||
                     (s.at[WRITE] == 1 && who == WRITE && !next.wrong && next.block[DEVICE]);
            assert_true(n < MOST - 1 && *states < MOST / 2);
            if (is_new(&next)) pending[n++] = next;
        }
        if (goes_on) continue;
        ++*ends;
        for (int t = 0; t < THREADS; t++) right &= s.at[t] == 9; /* nobody hangs */
    }
    forget();
    return right;
}

static void all_rules(void **unused) {
    size_t states, ends;
    (void)unused;
    without = 0;
    assert_true(search(&states, &ends));
    assert_true(states > 1000 && ends > 10);
}

static void each_rule_is_needed(void **unused) {
    (void)unused;
    for (int r = 0; r < RULES; r++) {
        size_t states, ends;
        without = 1u << r;
        if (search(&states, &ends)) fail_msg("nothing is lost without \"%s\"", names[r]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_rules),
                                       cmocka_unit_test(each_rule_is_needed)};
    return cmocka_run_group_tests_name("eviction", tests, NULL, NULL);
}
