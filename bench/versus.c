/* Two versions of the library against each other, in turns, in one process: the first shared object
 * named is what is measured, the second one the reference. bench/versus builds both. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bench.h"
#include "versus.h"
#include <dlfcn.h>

static const versus_function *functions_of(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror());
    bench_require(library != NULL, "opening a library");
    const versus_function *(*functions)(void);
    *(void **)&functions = dlsym(library, "versus_functions");
    bench_require(functions != NULL, "no functions in a library");
    const versus_function *list = functions();
    bench_require(list != NULL, "a library does not work");
    return list;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s NEW.so OLD.so [options of a benchmark]\n", argv[0]);
        return 2;
    }
    const versus_function *ours = functions_of(argv[1]), *theirs = functions_of(argv[2]);
    bench_begin(argc - 2, argv + 2, "versus");
    for (size_t i = 0; ours[i].name != NULL; i++)
        bench_run(&(bench_figure){.name = ours[i].name,
                                  .function = ours[i].run,
                                  .reference_name = "the other version",
                                  .reference = theirs[i].run});
    return 0;
}
