/* What tests tell the fake driver, and ask it. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_CONTROL_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_CONTROL_H

#include "fake_cuda_kernel.h"

static void fake_enter(void) {
    fake_thread.function = NULL;
    pthread_mutex_lock(&fake.lock);
}

static void fake_leave(void) { pthread_mutex_unlock(&fake.lock); }

/* The number of a function by its name; NULL: that of all. */
static int fake_function_number(const char *name) {
    if (name == NULL) return FAKE_FUNCTIONS;
    for (int i = 0; i < FAKE_FUNCTIONS; i++)
        if (strcmp(fake_names[i], name) == 0) return i;
    fake_misuse("there is no %s", name);
}

/* ---- beginning and ending ---- */

static void fake_use_options(const char *text) {
    const char *wrong;
    fake.known = 0;
    if (text == NULL) return;
    fake.options = fake_default_options;
    wrong = fake_read_options(text, &fake.options);
    if (wrong) fake_misuse("what is \"%s\"?", wrong);
    fake.known = 1;
}

static void fake_configure(const char *options) {
    fake_enter();
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (fake.devices[i].context.retained > 0) fake_misuse("a context is retained");
    fake_reap();
    fake_unmake_devices();
    fake_use_options(options);
    fake_leave();
}

static void fake_forget_kernels(void) {
    while (fake.kernels) {
        fake_kernel *kernel = fake.kernels;
        fake.kernels = kernel->next;
        free(kernel->name);
        free(kernel->sizes);
        free(kernel);
    }
}

static void fake_reset(void) {
    uint64_t noted;
    fake_enter();
    for (ha_cu_stream stream = fake.streams; stream; stream = stream->next) {
        stream->credit = -1;
        pthread_cond_signal(&stream->work);
    }
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (fake.devices[i].mapping) fake_end_context(&fake.devices[i].context);
    fake_unmake_devices();
    fake_forget_kernels();
    fake.find = NULL;
    fake_use_options(NULL);
    memset(&fake.statistics, 0, sizeof fake.statistics);
    noted = fake.counts[FAKE_FUNCTIONS];
    memset(fake.counts, 0, sizeof fake.counts);
    memset(fake.log, 0, (noted < FAKE_LOG ? noted : FAKE_LOG) * sizeof *fake.log);
    memset(&fake.fault, 0, sizeof fake.fault);
    fake.asked = NULL;
    fake.capturing = fake.broken = 0;
    atomic_store(&fake.process, 0);
    fake_leave();
}

static void fake_deinitialize(void) {
    fake_enter();
    fake.phase = FAKE_GONE;
    fake_leave();
}

static void fake_set_attribute(int device, int attribute, int value) {
    fake_enter();
    if (device < 0 || device >= FAKE_CUDA_MOST_DEVICES || attribute < 0 ||
        attribute >= FAKE_ATTRIBUTES)
        fake_misuse("device %d has no attribute %d", device, attribute);
    fake.devices[device].overridden[attribute] = 1;
    fake.devices[device].attributes[attribute] = value;
    fake_leave();
}

static void fake_register_kernel(const char *name, fake_cuda_body body, size_t count,
                                 const size_t *sizes) {
    fake_enter();
    (void)fake_add_kernel(name, body, count, sizes);
    fake_leave();
}

static void fake_find_kernels(fake_cuda_finder *find) {
    fake_enter();
    fake.find = find;
    fake_leave();
}

static void fake_pin(void *memory, size_t bytes) {
    fake_block *block;
    fake_enter();
    block = fake_find_block((uintptr_t)memory);
    if (bytes > 0) {
        block = fake_new_block(&fake.devices[0].context, FAKE_PINNED, bytes);
        block->first = (uintptr_t)memory;
        block->taken = bytes;
        block->callers = 1;
        block->next = fake.host;
        fake.host = block;
    } else if (block == NULL || !block->callers || block->uses > 0) {
        fake_misuse("%p is not pinned, or in use", memory);
    } else {
        fake_free_now(block);
    }
    fake_leave();
}

static int fake_capture(int begins) {
    int broken;
    fake_enter();
    broken = fake.broken;
    fake.capturing = begins;
    fake.broken = 0;
    fake_leave();
    return !broken;
}

/* ---- failures ---- */

static void fake_fail_call(const char *function, uint64_t nth, int code, int forever) {
    fake_enter();
    if (nth == 0) fake_misuse("the next call is number 1");
    fake.fault.function = fake_function_number(function);
    fake.fault.left = nth;
    fake.fault.code = code;
    fake.fault.forever = forever;
    fake_leave();
}

static void fake_fail_never(void) {
    fake_enter();
    fake.fault.code = 0;
    fake_leave();
}

static void fake_ask(int (*asked)(void *user, const char *function, int device), void *user) {
    fake_enter();
    fake.asked = asked;
    fake.asked_user = user;
    fake_leave();
}

static ha_cu_stream fake_controlled_stream(ha_cu_stream handle) {
    ha_cu_context context = fake_current() ? fake_current() : &fake.devices[0].context;
    if (handle != NULL && handle != HA_CU_STREAM_LEGACY_) return fake_find_stream(handle);
    if (context->retained == 0) fake_misuse("there is no context");
    return fake_legacy(context);
}

static void fake_fail_stream(ha_cu_stream handle) {
    fake_enter();
    fake_fail_context(fake_controlled_stream(handle)->context, HA_CU_ILLEGAL_ADDRESS);
    fake_leave();
}

static void fake_hold(ha_cu_stream handle) {
    fake_enter();
    fake_controlled_stream(handle)->credit = 0;
    fake_leave();
}

static void fake_step(ha_cu_stream handle, int64_t commands) {
    ha_cu_stream stream;
    fake_enter();
    stream = fake_controlled_stream(handle);
    if (commands < 0)
        stream->credit = -1;
    else if (stream->credit >= 0)
        stream->credit += commands;
    pthread_cond_signal(&stream->work);
    fake_leave();
}

/* ---- questions ---- */

static uint64_t fake_calls(const char *function) {
    uint64_t count;
    fake_enter();
    count = fake.counts[fake_function_number(function)];
    fake_leave();
    return count;
}

static fake_cuda_call fake_call(uint64_t number) {
    fake_cuda_call call = {0};
    uint64_t count;
    fake_enter();
    count = fake.counts[FAKE_FUNCTIONS];
    if (number < count && count - number <= FAKE_LOG) call = fake.log[number % FAKE_LOG];
    fake_leave();
    return call;
}

static fake_cuda_statistics fake_get_statistics(void) {
    fake_cuda_statistics statistics;
    fake_enter();
    statistics = fake.statistics;
    fake_leave();
    return statistics;
}

static void *fake_look(const void *pointer) {
    void *bytes;
    fake_enter();
    bytes = fake_bytes_at((uintptr_t)pointer);
    fake_leave();
    return bytes;
}

FAKE_EXPORT const fake_cuda *fake_cuda_control(void);

const fake_cuda *fake_cuda_control(void) {
    static const fake_cuda control = {
        .bytes = sizeof control,
        .configure = fake_configure,
        .reset = fake_reset,
        .deinitialize = fake_deinitialize,
        .set_attribute = fake_set_attribute,
        .register_kernel = fake_register_kernel,
        .find_kernels = fake_find_kernels,
        .fail_call = fake_fail_call,
        .fail_never = fake_fail_never,
        .ask = fake_ask,
        .fail_stream = fake_fail_stream,
        .hold = fake_hold,
        .step = fake_step,
        .calls = fake_calls,
        .call = fake_call,
        .statistics = fake_get_statistics,
        .look = fake_look,
        .capture = fake_capture,
        .pin = fake_pin,
    };
    return &control;
}

#endif
