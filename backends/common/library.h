/* Libraries that are looked for while the program runs. Where dlopen is not what is wanted, define
 * HARRAY_DLOPEN(name), HARRAY_DLSYM(library, symbol) and HARRAY_DLERROR() before harray.h, all three. */
#ifndef HARRAY_BACKENDS_COMMON_LIBRARY_H
#define HARRAY_BACKENDS_COMMON_LIBRARY_H

#include "../backend.h"

#include <stdio.h>

#if defined HARRAY_DLOPEN && !(defined HARRAY_DLSYM && defined HARRAY_DLERROR)
#error "define HARRAY_DLOPEN, HARRAY_DLSYM and HARRAY_DLERROR, or none of them"
#endif
#ifdef HARRAY_DLOPEN
HA_IN_ int ha_program_is_static(void) { return 0; }
#else
#include <dlfcn.h>
#include <link.h>
#define HARRAY_DLOPEN(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define HARRAY_DLSYM(library, symbol) dlsym(library, symbol)
#define HARRAY_DLERROR() dlerror()

HA_IN_ int ha_look_for_linker(struct dl_phdr_info *program, size_t bytes, void *found) {
    (void)bytes;
    for (size_t i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP) *(int *)found = 1;
    return 1; /* the program comes first; its libraries are not looked at */
}

/* Whether the program was linked with -static. There glibc's dlopen loads libraries without their
 * thread-local variables: a driver would crash when it is first called. */
HA_IN_ int ha_program_is_static(void) {
    int linker = 0;
    (void)dl_iterate_phdr(ha_look_for_linker, &linker);
    return !linker;
}
#endif

/* Loads a library for the rest of the process. NULL, with the reason in `why`: it cannot be. */
HA_IN_ void *ha_library_load(const char *name, char *why, size_t room) {
    void *library = NULL;
    if (ha_program_is_static()) {
        snprintf(why, room,
                 "a statically linked program cannot load a driver: link without -static");
        return library;
    }
    library = HARRAY_DLOPEN(name);
    if (library == NULL) {
        const char *error = HARRAY_DLERROR();
        snprintf(why, room, "%s", error != NULL ? error : name);
    }
    return library;
}

#endif
