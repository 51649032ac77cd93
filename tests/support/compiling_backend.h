/* A device with a compiler of the test's own, to see what is compiled, and to have it refused. Kind "compiling":
 * the devices of COMPILING_BASE, whose kernels are bodies compiled here (fake_kernels.h).
 *
 * Its compiler takes OpenCL C. It knows no word MISTAKE: where that stands in a text, it says so with file and
 * line, and refuses. What it makes is the text with the device's target in front, which it loads again.
 *
 * Include behind harray_kernels.h with HARRAY_IMPLEMENTATION; know_compiled(&axpy_known) before launches. */
#ifndef HARRAY_TESTS_SUPPORT_COMPILING_BACKEND_H
#define HARRAY_TESTS_SUPPORT_COMPILING_BACKEND_H

#include "fake_kernels.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *target;
    int no_double, no_long_atomics, no_compiler; /* the device has none */
    int no_functions;                       /* its queues do not run the host's; see no_compiler */
    size_t multiple;                        /* of lanes, in a team; 1: it is a CPU */
    int compiled, loaded, discarded;        /* programs, from text, from binaries, and given back */
    int launched;                           /* threads may at once; compiling they take turns */
    void (*takes)(const ha_launch *launch); /* instead of running it; NULL: it runs */
    char text[1 << 16];                     /* what was compiled last */
    struct { /* fails the next call of a slot so, after so many; NULL: none */
        const char *slot;
        ha_status status;
        int after;
    } fails;
    const known_kernel *known[32];
    size_t count;
} compiling = {.target = "target 1", .multiple = 1};

static void know_compiled(const known_kernel *known) {
    for (size_t i = 0; i < compiling.count; i++)
        if (compiling.known[i] == known) return;
    if (compiling.count == sizeof compiling.known / sizeof *compiling.known) abort();
    compiling.known[compiling.count++] = known;
}

static ha_status compiling_fault(const char *slot) {
    const ha_status status = compiling.fails.status;
    if (compiling.fails.slot && !strcmp(compiling.fails.slot, slot) && !compiling.fails.after--) {
        compiling.fails.slot = NULL;
        compiling.fails.after = 0;
        ha_backend_report(42, "the driver said so");
        return status;
    }
#ifdef HARRAY_TESTS_SUPPORT_FAULTY_BACKEND_H
    return faulty_call(slot);
#else
    return HA_OK;
#endif
}

/* ---- the compiler -------------------------------------------------------------------------------- */

typedef struct compiling_place {
    char file[300];
    long line;
} compiling_place;

/* Where the text's directives say that a character of it stands. */
static compiling_place compiling_place_of(const char *text, const char *at) {
    compiling_place p = {"text", 1};
    for (const char *c = text; c < at; c++) {
        if (*c == '\n') p.line++;
        if ((c == text || c[-1] == '\n') && !strncmp(c, "#line ", 6)) {
            if (sscanf(c, "#line %ld \"%299[^\"]\"", &p.line, p.file) != 2) abort();
            p.line--;
        }
    }
    return p;
}

static void compiling_say(const ha_program_source *source, const char *at, const char *what) {
    const compiling_place p = compiling_place_of(source->text, at);
    snprintf(source->log, source->log_bytes, "a word before\n%s:%ld: error: %s\nand one behind\n",
             p.file, p.line, what);
}

static ha_status compiling_compile(const ha_program_source *source) {
    const char *mistake = strstr(source->text, "MISTAKE");
    snprintf(compiling.text, sizeof compiling.text, "%s", source->text);
    compiling.compiled++;
    pthread_testcancel();
    if (!mistake) return HA_OK;
    compiling_say(source, mistake, "MISTAKE is not known");
    return HA_ERR_COMPILE;
}

static ha_status compiling_load(const ha_program_source *source) {
    const char *binary = (const char *)source->binary;
    const size_t n = strlen(compiling.target);
    if (source->binary_bytes <= n || strncmp(binary, compiling.target, n) != 0 || binary[n] != '\n')
        return HA_ERR_BACKEND;
    compiling.loaded++;
    return HA_OK;
}

static ha_status compiling_build(void *device, const ha_program_source *source, void **program,
                                 ha_binary *made) {
    char *text;
    size_t bytes;
    ha_status status = compiling_fault("build");
    (void)device;
    if (!status) status = source->text ? compiling_compile(source) : compiling_load(source);
    if (status) return status;
    bytes = source->text ? strlen(compiling.target) + strlen(source->text) + 2
                         : source->binary_bytes;
    text = (char *)malloc(bytes);
    if (made && !(made->data = HARRAY_MALLOC(bytes))) status = HA_ERR_MEMORY;
    if (!text || status) {
        free(text);
        return HA_ERR_MEMORY;
    }
    if (source->text)
        snprintf(text, bytes, "%s\n%s", compiling.target, source->text);
    else
        memcpy(text, source->binary, bytes);
    if (made) memcpy(made->data, text, made->bytes = bytes);
    *program = text;
    return HA_OK;
}

static void compiling_discard(void *device, void *program) {
    (void)device;
    compiling.discarded++;
    free(program);
}

/* By its name, which the text has to have. */
static ha_status compiling_kernel(void *program, const char *name, ha_kernel_limits *limits,
                                  void **kernel) {
    const ha_status status = compiling_fault("kernel");
    if (status) return status;
    if (!strstr((const char *)program, name)) return HA_ERR_NOT_FOUND;
    *limits = (ha_kernel_limits){1024, compiling.multiple, 1 << 15};
    for (size_t i = 0; i < compiling.count; i++)
        if (!strcmp(compiling.known[i]->kernel->name, name + strlen("ha_entry_"))) {
            *kernel = (void *)(uintptr_t)compiling.known[i];
            return HA_OK;
        }
    return HA_ERR_NOT_FOUND;
}

static int compiling_has_double(void *device) {
    (void)device;
    return !compiling.no_double;
}

static int compiling_has_long_atomics(void *device) {
    (void)device;
    return !compiling.no_long_atomics;
}

static ha_language compiling_language(void *device) {
    (void)device;
    return compiling.no_compiler ? HA_LANGUAGE_NONE : HA_LANGUAGE_OPENCL_C;
}

/* What devices are of that have the target "target N". */
static ha_language compiling_compiles_for(const char *name, char *target, size_t bytes) {
    if (strncmp(name, "made_up_", 8) != 0) return HA_LANGUAGE_NONE;
    snprintf(target, bytes, "target %s", name + 8);
    return HA_LANGUAGE_OPENCL_C;
}

static ha_status compiling_compile_for(const char *name, const ha_program_source *source,
                                       ha_binary *made) {
    ha_status status = compiling_fault("compile");
    if (!status) status = compiling_compile(source);
    if (status) return status;
    made->bytes = strlen("target ") + strlen(name + 8) + strlen(source->text) + 2;
    made->data = HARRAY_MALLOC(made->bytes);
    if (!made->data) return HA_ERR_MEMORY;
    snprintf((char *)made->data, made->bytes, "target %s\n%s", name + 8, source->text);
    return HA_OK;
}

static void compiling_target(void *device, char *text, size_t bytes) {
    (void)device;
    snprintf(text, bytes, "%s", compiling.target);
}

/* ---- launching ----------------------------------------------------------------------------------- */

typedef struct compiling_message {
    const known_kernel *known;
    unsigned teams;
    size_t arguments;
    struct {
        size_t bytes;
        char value[64]; /* a number, or a place in memory */
    } argument[HA_MOST_ARGUMENTS];
} compiling_message;

static void compiling_run(const ha_queue *here, void *argument) {
    static int64_t none = 0;
    compiling_message *m = (compiling_message *)argument;
    void *given[2 * HA_MOST_ARGUMENTS];
    fake_cuda_launch launch = {.own = *here, .grid = {m->teams, 1, 1}};
    size_t n = 0;
    for (size_t i = 0; i < m->arguments; i++) {
        given[n++] = m->argument[i].value;
        if (m->argument[i].bytes == 0) given[n++] = &none;
    }
    m->known->run(given, &launch);
}

static ha_status compiling_launch(void *queue, const ha_launch *launch) {
    compiling_message m = {.known = (const known_kernel *)launch->kernel,
                           .teams = (unsigned)launch->teams[0],
                           .arguments = launch->arguments};
    const ha_status status = compiling_fault("launch");
    if (status) return status;
    if (compiling.takes) {
        compiling.takes(launch);
        return HA_OK;
    }
    for (size_t i = 0; i < launch->arguments; i++) {
        const ha_kernel_argument *a = &launch->argument[i];
        m.argument[i].bytes = a->bytes;
        if (a->bytes > sizeof m.argument[i].value) abort();
        if (a->bytes)
            memcpy(m.argument[i].value, a->value, a->bytes);
        else
            memcpy(m.argument[i].value, &a->value, sizeof a->value);
    }
    __atomic_fetch_add(&compiling.launched, 1, __ATOMIC_RELAXED);
    return COMPILING_BASE.queue->call(queue, compiling_run, &m, sizeof m);
}

static ha_status compiling_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    const ha_status status = compiling_fault("functions");
    if (status) return status;
    if (compiling.no_functions) return HA_ERR_UNSUPPORTED;
    return COMPILING_BASE.queue->call(queue, f, argument, bytes);
}

/* The tables are made at the first call; to be registered. */
static const ha_backend *compiling_backend_make(void) {
    static ha_queue_ops queue;
    static ha_backend backend;
    queue = *COMPILING_BASE.queue;
    queue.bytes = sizeof queue;
    queue.launch = compiling_launch;
    queue.call = compiling_call;
    backend = COMPILING_BASE;
    backend.bytes = sizeof backend;
    backend.kind = "compiling";
    backend.queue = &queue;
    backend.language = compiling_language;
    backend.target = compiling_target;
    backend.build = compiling_build;
    backend.discard = compiling_discard;
    backend.kernel = compiling_kernel;
    backend.has_double = compiling_has_double;
    backend.has_long_atomics = compiling_has_long_atomics;
    backend.compiles_for = compiling_compiles_for;
    backend.compile = compiling_compile_for;
    return &backend;
}

#endif
