/* The fake driver's streams: a list of commands each, and a thread that works it off in order.
 *
 * A position in a stream is a number of commands; it is reached when so many have ended. A command
 * waits for positions of other streams: those of events, and, among the legacy stream and the blocking
 * ones of a context, each for what was there before it.
 *
 * When a context fails, all that has not started in it is dropped, and never ends. No call tells it
 * before what has started there is over: the device has stopped. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_STREAM_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_STREAM_H

#include "fake_cuda_state.h"

#include <signal.h>
#include <time.h>

typedef enum fake_command_kind {
    FAKE_WORK,   /* run it */
    FAKE_WAIT,   /* only waits for positions */
    FAKE_RECORD, /* takes no time, and also happens on a held stream */
    FAKE_ALLOCATE,
    FAKE_FREE
} fake_command_kind;

typedef struct fake_position {
    ha_cu_stream stream; /* referred to */
    uint64_t number;
} fake_position;

enum { FAKE_USES = 64 }; /* blocks of a command: a copy's two, a kernel's parameters */

typedef struct fake_command {
    struct fake_command *next;
    fake_command_kind kind;
    void (*run)(ha_cu_stream stream, void *data); /* without the lock */
    void *data;                                   /* its own, freed at the end */
    int on_host;                                  /* it may not call the driver */
    fake_block *uses[FAKE_USES];
    size_t used;
    fake_position *after;
    size_t waits;
} fake_command;

struct CUstream_st {
    ha_cu_stream next;
    ha_cu_context context;
    int blocking, legacy;
    int destroyed; /* the user has no handle of it any more */
    int closing, ended;
    ha_cu_result failure; /* its context's, which may have begun anew since */
    size_t references;    /* the list's, and one for each position in it that somebody has */
    pthread_t thread;
    pthread_cond_t work;
    uint64_t random;
    fake_command *head, **tail, *running;
    uint64_t enqueued, finished;
    int64_t credit; /* commands that may start; negative: any number */
};

struct CUevent_st {
    ha_cu_event next;
    ha_cu_context context;
    fake_position recorded; /* stream NULL: never */
};

/* ---- positions ---- */

static void fake_refer(ha_cu_stream stream) { stream->references++; }

static void fake_let_go(ha_cu_stream stream) {
    if (--stream->references > 0) return;
    pthread_cond_destroy(&stream->work);
    free(stream);
}

static int fake_reached(const fake_position *position) {
    return position->stream == NULL || position->stream->finished >= position->number;
}

static int fake_is_working(ha_cu_context context) {
    for (ha_cu_stream stream = fake.streams; stream; stream = stream->next)
        if (stream->context == context && stream->running && !stream->running->on_host) return 1;
    return 0;
}

/* Running commands' ends are waited for even then: the device has stopped. */
static int fake_is_hopeless(const fake_position *position) {
    return position->stream->failure != HA_CU_SUCCESS && !position->stream->running &&
           !fake_is_working(position->stream->context);
}

/* Blocks the caller. What never happens gives the failure. */
static ha_cu_result fake_wait_for(fake_position position) {
    ha_cu_result result;
    if (fake_reached(&position)) return HA_CU_SUCCESS;
    fake_refer(position.stream);
    while (!fake_reached(&position) && !fake_is_hopeless(&position))
        pthread_cond_wait(&fake.progress, &fake.lock);
    result = fake_reached(&position) ? HA_CU_SUCCESS : position.stream->failure;
    fake_let_go(position.stream);
    return result;
}

/* ---- commands ---- */

static void fake_add_wait(fake_command *command, ha_cu_stream stream, uint64_t number) {
    const fake_position position = {stream, number};
    if (fake_reached(&position)) return;
    command->after = (fake_position *)realloc(command->after,
                                              (command->waits + 1) * sizeof *command->after);
    if (command->after == NULL) fake_misuse("no memory left for the fake itself");
    command->after[command->waits++] = position;
    fake_refer(stream);
}

static void fake_add_use(fake_command *command, fake_block *block) {
    if (block == NULL) return;
    if (command->used == FAKE_USES) fake_misuse("more than %d blocks in one command", FAKE_USES);
    command->uses[command->used++] = block;
    block->uses++;
}

static void fake_end_command(fake_command *command) {
    for (size_t i = 0; i < command->used; i++) command->uses[i]->uses--;
    for (size_t i = 0; i < command->waits; i++) fake_let_go(command->after[i].stream);
    free(command->after);
    free(command->data);
    free(command);
}

static fake_command *fake_new_command(fake_command_kind kind) {
    fake_command *command = (fake_command *)fake_make(sizeof *command);
    command->kind = kind;
    return command;
}

/* The legacy stream and the blocking ones wait for each other. */
static void fake_order_by_default(ha_cu_stream stream, fake_command *command) {
    ha_cu_stream legacy = stream->context->legacy;
    if (stream->legacy) {
        for (ha_cu_stream other = fake.streams; other; other = other->next)
            if (other->context == stream->context && other->blocking)
                fake_add_wait(command, other, other->enqueued);
    } else if (stream->blocking && legacy) {
        fake_add_wait(command, legacy, legacy->enqueued);
    }
}

/* Appends it, and gives its end. */
static fake_position fake_enqueue(ha_cu_stream stream, fake_command *command) {
    fake_order_by_default(stream, command);
    *stream->tail = command;
    stream->tail = &command->next;
    pthread_cond_signal(&stream->work);
    return (fake_position){stream, ++stream->enqueued};
}

/* ---- failing late ---- */

static void fake_drop_commands(ha_cu_stream stream) {
    while (stream->head) {
        fake_command *command = stream->head;
        stream->head = command->next;
        fake_end_command(command);
    }
    stream->tail = &stream->head;
}

static void fake_fail_context(ha_cu_context context, ha_cu_result failure) {
    ha_cu_stream stream;
    if (context->failure == HA_CU_SUCCESS) context->failure = failure;
    for (stream = fake.streams; stream; stream = stream->next)
        if (stream->context == context && !stream->failure) {
            stream->failure = failure;
            fake_drop_commands(stream);
        }
    pthread_cond_broadcast(&fake.progress);
}

/* Whether a context has failed, for a call to tell: when the device has stopped. Functions go on. */
static ha_cu_result fake_failure(ha_cu_context context) {
    while (context->failure && fake_is_working(context))
        pthread_cond_wait(&fake.progress, &fake.lock);
    return context->failure;
}

static void fake_stop_context(ha_cu_context context, ha_cu_result failure) {
    fake_fail_context(context, failure);
    (void)fake_failure(context);
}

/* ---- the thread ---- */

static uint64_t fake_random(uint64_t *state) { /* xorshift64 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fake_pause(ha_cu_stream stream) {
    uint64_t pause = fake.options.delay;
    struct timespec time;
    if (pause == 0) return;
    pause = fake_random(&stream->random) % (pause + 1);
    time.tv_sec = (time_t)(pause / 1000000000);
    time.tv_nsec = (long)(pause % 1000000000);
    pthread_mutex_unlock(&fake.lock);
    nanosleep(&time, NULL);
    pthread_mutex_lock(&fake.lock);
}

static int fake_may_start(const struct CUstream_st *stream) {
    return stream->head && (stream->credit != 0 || stream->head->kind == FAKE_RECORD);
}

/* Another device's failure lets go who waits for it: nothing is known about that on hardware, and
 * those commands get whatever is there. */
static int fake_must_wait(const fake_command *command) {
    for (size_t i = 0; i < command->waits; i++)
        if (!fake_reached(&command->after[i]) && !fake_is_hopeless(&command->after[i])) return 1;
    return 0;
}

static void fake_free_now(fake_block *block); /* fake_cuda_memory.h */

static void fake_check_uses(const fake_command *command) {
    for (size_t i = 0; i < command->used; i++)
        if (command->uses[i]->unborn && command->kind != FAKE_ALLOCATE)
            fake_misuse("a command uses memory before its cuMemAllocAsync has happened");
}

static void fake_execute(ha_cu_stream stream, fake_command *command) {
    fake_check_uses(command);
    if (command->kind == FAKE_ALLOCATE) {
        command->uses[0]->unborn = 0;
    } else if (command->kind == FAKE_FREE) {
        fake_block *block = command->uses[0];
        if (block->uses > 1) fake_misuse("cuMemFreeAsync happens while other commands use it");
        command->used = 0;
        fake_free_now(block);
    } else if (command->run) {
        pthread_mutex_unlock(&fake.lock);
        fake_thread.in_host_function = command->on_host;
        command->run(stream, command->data);
        fake_thread.in_host_function = 0;
        pthread_mutex_lock(&fake.lock);
    }
}

static void fake_run_next(ha_cu_stream stream) {
    fake_command *command = stream->running = stream->head;
    stream->head = command->next;
    if (stream->head == NULL) stream->tail = &stream->head;
    if (stream->credit > 0 && command->kind != FAKE_RECORD) stream->credit--;
    while (fake_must_wait(command) && stream->failure == HA_CU_SUCCESS)
        pthread_cond_wait(&fake.progress, &fake.lock);
    if (command->kind != FAKE_RECORD) fake_pause(stream);
    if (stream->failure == HA_CU_SUCCESS) {
        fake_execute(stream, command);
        stream->finished++;
    }
    fake_end_command(command);
    stream->running = NULL;
    pthread_cond_broadcast(&fake.progress);
}

static void *fake_thread_main(void *handle) {
    ha_cu_stream stream = (ha_cu_stream)handle;
    fake_thread.function = "a stream";
    pthread_mutex_lock(&fake.lock);
    for (;;) {
        if (fake_may_start(stream))
            fake_run_next(stream);
        else if (stream->closing && !stream->head)
            break;
        else
            pthread_cond_wait(&stream->work, &fake.lock);
    }
    stream->ended = 1;
    pthread_cond_broadcast(&fake.progress);
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

/* ---- making and ending streams ---- */

static void fake_start_thread(ha_cu_stream stream) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&stream->thread, NULL, fake_thread_main, stream) != 0)
        fake_misuse("no thread for a stream");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static ha_cu_stream fake_new_stream(ha_cu_context context, int blocking, int legacy) {
    ha_cu_stream stream = (ha_cu_stream)fake_make(sizeof *stream);
    stream->context = context;
    stream->failure = context->failure;
    stream->blocking = blocking;
    stream->legacy = legacy;
    stream->references = 1;
    stream->tail = &stream->head;
    stream->credit = -1;
    stream->random = fake.options.seed ^ ++fake.streams_made * UINT64_C(0x9E3779B97F4A7C15);
    if (stream->random == 0) stream->random = 1;
    pthread_cond_init(&stream->work, NULL);
    stream->next = fake.streams;
    fake.streams = stream;
    fake_start_thread(stream);
    return stream;
}

static ha_cu_stream fake_legacy(ha_cu_context context) {
    if (!context->legacy) context->legacy = fake_new_stream(context, 0, 1);
    return context->legacy;
}

/* Threads that have ended are joined, and their streams taken out of the list. */
static void fake_reap(void) {
    ha_cu_stream *place = &fake.streams;
    while (*place) {
        ha_cu_stream stream = *place;
        if (!stream->ended) {
            place = &stream->next;
            continue;
        }
        *place = stream->next;
        pthread_join(stream->thread, NULL); /* it does not need the lock any more */
        fake_let_go(stream);
    }
}

/* What is in it still happens. */
static void fake_close_stream(ha_cu_stream stream) {
    stream->closing = 1;
    pthread_cond_signal(&stream->work);
}

/* Ends all streams of a context (NULL: of all of them), also those that the user has not. */
static void fake_end_streams(ha_cu_context context) {
    ha_cu_stream stream;
    for (stream = fake.streams; stream; stream = stream->next)
        if (!context || stream->context == context) fake_close_stream(stream);
    for (stream = fake.streams; stream;) {
        if ((!context || stream->context == context) && !stream->ended) {
            pthread_cond_wait(&fake.progress, &fake.lock);
            stream = fake.streams; /* others may have changed it */
        } else {
            stream = stream->next;
        }
    }
    fake_reap();
}

/* The stream of a handle; a handle of none is misuse. 0 and 1 need a current context. */
static ha_cu_stream fake_find_stream(ha_cu_stream handle) {
    if (handle == NULL || handle == HA_CU_STREAM_LEGACY_) return fake_legacy(fake_current());
    for (ha_cu_stream stream = fake.streams; stream; stream = stream->next)
        if (stream == handle && !stream->destroyed && !stream->legacy) return stream;
    fake_misuse("%p is no stream", (void *)handle);
}

#endif
