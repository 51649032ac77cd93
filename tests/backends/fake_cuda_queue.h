/* The fake driver's functions for streams, events and functions on the host. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_QUEUE_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_QUEUE_H

#include "fake_cuda_context.h"

/* ---- streams ---- */

ha_cu_result cuStreamCreate(ha_cu_stream *stream, unsigned flags) {
    FAKE_BEGIN(StreamCreate, NULL, FAKE_SOUND);
    if (stream == NULL || flags > HA_CU_STREAM_NON_BLOCKING) return fake_end(HA_CU_INVALID_VALUE);
    fake_reap();
    *stream = fake_new_stream(fake_current(), flags != HA_CU_STREAM_NON_BLOCKING, 0);
    fake.statistics.streams++;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuStreamDestroy_v2(ha_cu_stream handle) {
    ha_cu_stream stream;
    ha_cu_context context;
    FAKE_BEGIN(StreamDestroy, handle, FAKE_CURRENT);
    if (handle == NULL || handle == HA_CU_STREAM_LEGACY_ || handle == HA_CU_STREAM_PER_THREAD_)
        return fake_end(HA_CU_INVALID_HANDLE);
    stream = fake_find_stream(handle);
    context = stream->context;
    stream->destroyed = 1;
    fake.statistics.streams--;
    fake_close_stream(stream);
    return fake_end(fake_failure(context));
}

/* The stream of a handle, or why there is none. */
static ha_cu_result fake_sound_stream(ha_cu_stream handle, ha_cu_stream *stream) {
    if (handle == HA_CU_STREAM_PER_THREAD_) return HA_CU_NOT_SUPPORTED;
    *stream = fake_find_stream(handle);
    return fake_failure((*stream)->context);
}

#define FAKE_BEGIN_STREAM(field, handle, stream)                                                   \
    FAKE_BEGIN(field, handle, FAKE_SOUND);                                                         \
    do {                                                                                           \
        const ha_cu_result sound_ = fake_sound_stream(handle, stream);                             \
        if (sound_ != HA_CU_SUCCESS) return fake_end(sound_);                                      \
    } while (0)

ha_cu_result cuStreamGetCtx(ha_cu_stream handle, ha_cu_context *context) {
    FAKE_BEGIN(StreamGetCtx, handle, FAKE_CURRENT);
    if (handle == HA_CU_STREAM_PER_THREAD_) return fake_end(HA_CU_NOT_SUPPORTED);
    *context = fake_find_stream(handle)->context;
    return fake_end(HA_CU_SUCCESS);
}

/* A record in the legacy stream is behind everything in the blocking ones, too. */
static fake_position fake_record(ha_cu_stream stream) {
    return fake_enqueue(stream, fake_new_command(FAKE_RECORD));
}

ha_cu_result cuStreamQuery(ha_cu_stream handle) {
    ha_cu_stream stream, other;
    int idle;
    FAKE_BEGIN_STREAM(StreamQuery, handle, &stream);
    idle = stream->finished == stream->enqueued;
    for (other = fake.streams; other && stream->legacy; other = other->next)
        if (other->context == stream->context && other->blocking)
            idle &= other->finished == other->enqueued;
    return fake_end(idle ? HA_CU_SUCCESS : HA_CU_NOT_READY);
}

ha_cu_result cuStreamSynchronize(ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(StreamSynchronize, handle, &stream);
    if (stream->legacy) return fake_end(fake_wait_for(fake_record(stream)));
    return fake_end(fake_wait_for((fake_position){stream, stream->enqueued}));
}

/* The thread's, which says what calls are forbidden while a stream is captured. */
ha_cu_result cuThreadExchangeStreamCaptureMode(ha_cu_capture_mode *mode) {
    FAKE_BEGIN(ThreadExchangeStreamCaptureMode, NULL, FAKE_INITIALISED);
    if (mode == NULL || (unsigned)*mode > HA_CU_CAPTURE_RELAXED)
        return fake_end(HA_CU_INVALID_VALUE);
    const ha_cu_capture_mode before = fake_thread.capture_mode;
    fake_thread.capture_mode = *mode;
    *mode = before;
    return fake_end(HA_CU_SUCCESS);
}

/* ---- functions on the host ---- */

typedef struct fake_host_function {
    void (*function)(void *argument);
    void *argument;
} fake_host_function;

static void fake_run_host_function(ha_cu_stream stream, void *data) {
    const fake_host_function *call = (const fake_host_function *)data;
    (void)stream;
    call->function(call->argument);
}

ha_cu_result cuLaunchHostFunc(ha_cu_stream handle, void (*function)(void *argument),
                              void *argument) {
    ha_cu_stream stream;
    fake_command *command;
    fake_host_function *call;
    FAKE_BEGIN_STREAM(LaunchHostFunc, handle, &stream);
    if (function == NULL) return fake_end(HA_CU_INVALID_VALUE);
    call = (fake_host_function *)fake_make(sizeof *call);
    *call = (fake_host_function){function, argument};
    command = fake_new_command(FAKE_WORK);
    command->run = fake_run_host_function;
    command->data = call;
    command->on_host = 1;
    fake_enqueue(stream, command);
    return fake_end(HA_CU_SUCCESS);
}

/* ---- events ---- */

/* An event that was destroyed is misuse. */
static ha_cu_event *fake_find_event(ha_cu_event event) {
    ha_cu_event *place = &fake.events;
    while (*place && *place != event) place = &(*place)->next;
    if (event == NULL || *place == NULL) fake_misuse("%p is no event", (void *)event);
    return place;
}

ha_cu_result cuEventCreate(ha_cu_event *event, unsigned flags) {
    FAKE_BEGIN(EventCreate, NULL, FAKE_SOUND);
    if (event == NULL || flags > 7) return fake_end(HA_CU_INVALID_VALUE);
    *event = (ha_cu_event)fake_make(sizeof **event);
    (*event)->context = fake_current();
    (*event)->next = fake.events;
    fake.events = *event;
    fake.statistics.events++;
    return fake_end(HA_CU_SUCCESS);
}

/* Streams that wait for it have its position. */
ha_cu_result cuEventDestroy_v2(ha_cu_event event) {
    ha_cu_context context;
    FAKE_BEGIN(EventDestroy, NULL, FAKE_CURRENT);
    *fake_find_event(event) = event->next;
    if (event->recorded.stream) fake_let_go(event->recorded.stream);
    context = event->context;
    free(event);
    fake.statistics.events--;
    return fake_end(fake_failure(context));
}

ha_cu_result cuEventRecord(ha_cu_event event, ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(EventRecord, handle, &stream);
    (void)fake_find_event(event);
    if (event->context != stream->context) return fake_end(HA_CU_INVALID_HANDLE);
    if (event->recorded.stream) fake_let_go(event->recorded.stream);
    event->recorded = fake_record(stream);
    fake_refer(stream);
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuEventQuery(ha_cu_event event) {
    FAKE_BEGIN(EventQuery, NULL, FAKE_INITIALISED);
    (void)fake_find_event(event);
    if (event->context->failure) return fake_end(fake_failure(event->context));
    return fake_end(fake_reached(&event->recorded) ? HA_CU_SUCCESS : HA_CU_NOT_READY);
}

/* Waits for what is recorded now, even if the event is recorded again meanwhile. */
ha_cu_result cuEventSynchronize(ha_cu_event event) {
    FAKE_BEGIN(EventSynchronize, NULL, FAKE_CURRENT);
    (void)fake_find_event(event);
    if (event->context->failure) return fake_end(fake_failure(event->context));
    return fake_end(fake_wait_for(event->recorded));
}

/* Events of other contexts are allowed. */
ha_cu_result cuStreamWaitEvent(ha_cu_stream handle, ha_cu_event event, unsigned flags) {
    ha_cu_stream stream;
    fake_command *command;
    FAKE_BEGIN_STREAM(StreamWaitEvent, handle, &stream);
    (void)fake_find_event(event);
    if (flags != 0) return fake_end(HA_CU_INVALID_VALUE);
    if (event->context->failure) return fake_end(fake_failure(event->context));
    command = fake_new_command(FAKE_WAIT);
    fake_add_wait(command, event->recorded.stream, event->recorded.number);
    fake_enqueue(stream, command);
    return fake_end(HA_CU_SUCCESS);
}

#endif
