/* NVRTC in a process of its own, for libnvrtc_apart.so (nvrtc_apart.c), which it is told a text and options by on stdin
 * and tells on stdout what became of them. With "about" as argument: version and architectures. */
#include "nvrtc_apart.h"

#include <dlfcn.h>
#include <string.h>

typedef struct _nvrtcProgram *program;

static struct {
    int (*Version)(int *, int *);
    int (*GetNumSupportedArchs)(int *);
    int (*GetSupportedArchs)(int *);
    int (*CreateProgram)(program *, const char *, const char *, int, const char *const *,
                         const char *const *);
    int (*CompileProgram)(program, int, const char *const *);
    int (*size[APART_RESULTS])(program, size_t *);
    int (*get[APART_RESULTS])(program, char *);
} nvrtc;

static int find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name); /* ISO C does not convert it to a function */
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int load(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library && find(library, "nvrtcVersion", &nvrtc.Version) &&
           find(library, "nvrtcGetNumSupportedArchs", &nvrtc.GetNumSupportedArchs) &&
           find(library, "nvrtcGetSupportedArchs", &nvrtc.GetSupportedArchs) &&
           find(library, "nvrtcCreateProgram", &nvrtc.CreateProgram) &&
           find(library, "nvrtcCompileProgram", &nvrtc.CompileProgram) &&
           find(library, "nvrtcGetProgramLogSize", &nvrtc.size[APART_LOG]) &&
           find(library, "nvrtcGetProgramLog", &nvrtc.get[APART_LOG]) &&
           find(library, "nvrtcGetPTXSize", &nvrtc.size[APART_PTX]) &&
           find(library, "nvrtcGetPTX", &nvrtc.get[APART_PTX]) &&
           find(library, "nvrtcGetCUBINSize", &nvrtc.size[APART_CUBIN]) &&
           find(library, "nvrtcGetCUBIN", &nvrtc.get[APART_CUBIN]);
}

static int tell_about(void) {
    int numbers[3 + MOST_ARCHITECTURES] = {0};
    if (nvrtc.Version(&numbers[0], &numbers[1]) || nvrtc.GetNumSupportedArchs(&numbers[2]) ||
        numbers[2] > MOST_ARCHITECTURES || nvrtc.GetSupportedArchs(&numbers[3]))
        return 0;
    return apart_write(STDOUT_FILENO, numbers, sizeof numbers);
}

static int tell_result(program p, apart_result which) {
    apart_bytes bytes = {0, NULL};
    if (nvrtc.size[which](p, &bytes.n) == NVRTC_SUCCESS)
        bytes.data = (char *)calloc(bytes.n + 1, 1);
    if (bytes.data && nvrtc.get[which](p, bytes.data) != NVRTC_SUCCESS) bytes.data = NULL;
    return apart_say(STDOUT_FILENO, bytes);
}

static int compile(void) {
    apart_bytes text, option[MOST_OPTIONS];
    const char *options[MOST_OPTIONS];
    int count = 0;
    program p;
    if (!apart_hear(STDIN_FILENO, &text) || !apart_read(STDIN_FILENO, &count, sizeof count))
        return 0;
    for (int i = 0; i < count; i++) {
        if (!apart_hear(STDIN_FILENO, &option[i])) return 0;
        options[i] = option[i].data;
    }
    if (nvrtc.CreateProgram(&p, text.data, "kernel.cu", 0, NULL, NULL)) return 0;
    const int result = nvrtc.CompileProgram(p, count, options);
    int good = apart_write(STDOUT_FILENO, &result, sizeof result);
    for (int i = 0; i < APART_RESULTS; i++) good = good && tell_result(p, (apart_result)i);
    return good;
}

int main(int argc, char **argv) {
    if (!load()) return 1;
    return argc > 1 && !strcmp(argv[1], "about") ? !tell_about() : !compile();
}
