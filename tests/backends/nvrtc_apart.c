/* NVRTC for programs under valgrind, which HARRAY_CUDA=nvrtc=PATH names: it compiles in a process of its own
 * (NVRTC_APART, of nvrtc_apart_main.c), at which valgrind does not look, as NVRTC takes a minute and a half there for
 * what it does in a second. Otherwise it is the one that this machine has: what is compiled comes from that, and so
 * do versions and messages. */
#define _GNU_SOURCE 1
#include "nvrtc_apart.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

#define EXPORTED __attribute__((__visibility__("default")))

struct _nvrtcProgram {
    char *text;
    apart_bytes made[APART_RESULTS];
};
typedef struct _nvrtcProgram *program;

EXPORTED const char *nvrtcGetErrorString(int result);
EXPORTED int nvrtcVersion(int *major, int *minor);
EXPORTED int nvrtcGetNumSupportedArchs(int *number);
EXPORTED int nvrtcGetSupportedArchs(int *all);
EXPORTED int nvrtcCreateProgram(program *p, const char *text, const char *name, int headers,
                                const char *const *header, const char *const *included);
EXPORTED int nvrtcDestroyProgram(program *p);
EXPORTED int nvrtcCompileProgram(program p, int options, const char *const *option);
EXPORTED int nvrtcGetCUBINSize(program p, size_t *bytes);
EXPORTED int nvrtcGetCUBIN(program p, char *cubin);
EXPORTED int nvrtcGetPTXSize(program p, size_t *bytes);
EXPORTED int nvrtcGetPTX(program p, char *ptx);
EXPORTED int nvrtcGetProgramLogSize(program p, size_t *bytes);
EXPORTED int nvrtcGetProgramLog(program p, char *log);

/* ---- the other process ---------------------------------------------------------------------------- */

typedef struct other {
    pid_t process;
    int to, from; /* pipes */
} other;

static int begin_with(other *o, const int in[2], const int out[2], char *argument) {
    char path[] = NVRTC_APART, *arguments[] = {path, argument, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return 0;
    int good = !posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO) &&
               !posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO) &&
               !posix_spawn(&o->process, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    o->to = in[1];
    o->from = out[0];
    return good;
}

static int begin(other *o, char *argument) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC)) return 0;
    if (pipe2(out, O_CLOEXEC)) {
        close(in[0]);
        close(in[1]);
        return 0;
    }
    const int good = begin_with(o, in, out, argument);
    close(in[0]);
    close(out[1]);
    if (!good) close(in[1]);
    if (!good) close(out[0]);
    return good;
}

/* Whether it ended well. */
static int end(const other *o) {
    int status = 1;
    close(o->to);
    close(o->from);
    while (waitpid(o->process, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* major, minor, how many architectures, and these */
static int ask_about(int numbers[3 + MOST_ARCHITECTURES]) {
    other o;
    char about[] = "about";
    if (!begin(&o, about)) return 0;
    const int good = apart_read(o.from, numbers, (3 + MOST_ARCHITECTURES) * sizeof *numbers);
    return end(&o) && good;
}

static apart_bytes bytes_of(const char *text) {
    return (apart_bytes){strlen(text) + 1, (char *)(uintptr_t)text};
}

static int exchange(const other *o, program p, int options, const char *const *option,
                    int *result) {
    int good = apart_say(o->to, bytes_of(p->text)) && apart_write(o->to, &options, sizeof options);
    for (int i = 0; i < options && good; i++) good = apart_say(o->to, bytes_of(option[i]));
    good = good && apart_read(o->from, result, sizeof *result);
    for (int i = 0; i < APART_RESULTS && good; i++) good = apart_hear(o->from, &p->made[i]);
    return good;
}

/* ---- the library's functions ---------------------------------------------------------------------- */

const char *nvrtcGetErrorString(int result) {
    switch (result) {
    case NVRTC_SUCCESS:
        return "NVRTC_SUCCESS";
    case 6:
        return "NVRTC_ERROR_COMPILATION";
    default:
        return "NVRTC_ERROR_INTERNAL_ERROR";
    }
}

int nvrtcVersion(int *major, int *minor) {
    int numbers[3 + MOST_ARCHITECTURES];
    if (!ask_about(numbers)) return NVRTC_INTERNAL_ERROR;
    *major = numbers[0];
    *minor = numbers[1];
    return NVRTC_SUCCESS;
}

int nvrtcGetNumSupportedArchs(int *number) {
    int numbers[3 + MOST_ARCHITECTURES];
    if (!ask_about(numbers)) return NVRTC_INTERNAL_ERROR;
    *number = numbers[2];
    return NVRTC_SUCCESS;
}

int nvrtcGetSupportedArchs(int *all) {
    int numbers[3 + MOST_ARCHITECTURES];
    if (!ask_about(numbers)) return NVRTC_INTERNAL_ERROR;
    memcpy(all, &numbers[3], (size_t)numbers[2] * sizeof *all);
    return NVRTC_SUCCESS;
}

/* Kernels have no headers, and harray gives all of them the name that the other process gives. */
int nvrtcCreateProgram(program *p, const char *text, const char *name, int headers,
                       const char *const *header, const char *const *included) {
    (void)header;
    (void)included;
    if (headers || strcmp(name, "kernel.cu")) return NVRTC_INTERNAL_ERROR;
    *p = (program)calloc(1, sizeof **p);
    if (*p) (*p)->text = strdup(text);
    if (*p && (*p)->text) return NVRTC_SUCCESS;
    free(*p);
    return 1; /* out of memory */
}

int nvrtcDestroyProgram(program *p) {
    for (int i = 0; i < APART_RESULTS; i++) free((*p)->made[i].data);
    free((*p)->text);
    free(*p);
    *p = NULL;
    return NVRTC_SUCCESS;
}

int nvrtcCompileProgram(program p, int options, const char *const *option) {
    int result = NVRTC_INTERNAL_ERROR;
    other o;
    if (options > MOST_OPTIONS || !begin(&o, NULL)) return result;
    const int good = exchange(&o, p, options, option, &result);
    return end(&o) && good ? result : NVRTC_INTERNAL_ERROR;
}

static int size_of(program p, apart_result which, size_t *bytes) {
    if (!p->made[which].data) return NVRTC_INTERNAL_ERROR;
    *bytes = p->made[which].n;
    return NVRTC_SUCCESS;
}

static int get(program p, apart_result which, char *to) {
    if (!p->made[which].data) return NVRTC_INTERNAL_ERROR;
    memcpy(to, p->made[which].data, p->made[which].n);
    return NVRTC_SUCCESS;
}

int nvrtcGetCUBINSize(program p, size_t *bytes) { return size_of(p, APART_CUBIN, bytes); }
int nvrtcGetCUBIN(program p, char *cubin) { return get(p, APART_CUBIN, cubin); }
int nvrtcGetPTXSize(program p, size_t *bytes) { return size_of(p, APART_PTX, bytes); }
int nvrtcGetPTX(program p, char *ptx) { return get(p, APART_PTX, ptx); }
int nvrtcGetProgramLogSize(program p, size_t *bytes) { return size_of(p, APART_LOG, bytes); }
int nvrtcGetProgramLog(program p, char *log) { return get(p, APART_LOG, log); }
