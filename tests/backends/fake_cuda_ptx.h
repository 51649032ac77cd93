/* The fake driver's look at PTX: a kernel that is asked for has to be there, with parameters as those that the
 * test has made known. So what is packed for a launch is compared with what was compiled. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_PTX_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_PTX_H

#include "fake_cuda_state.h"

#include <ctype.h>

/* Behind the '(' of a kernel's list of parameters; NULL: it is not there. */
static const char *fake_ptx_entry(const char *text, const char *name) {
    const size_t length = strlen(name);
    while ((text = strstr(text, ".entry "))) {
        text += strlen(".entry ");
        if (strncmp(text, name, length) == 0 && !isalnum((unsigned char)text[length]) &&
            text[length] != '_')
            return strchr(text, '(') + 1;
    }
    return NULL;
}

/* The bytes of a parameter: of ".param .u64 name" or ".param .align 8 .b8 name[16]". */
static size_t fake_ptx_bytes(const char *parameter, const char *end) {
    size_t bits = 0, count = 1;
    for (const char *at = parameter; at < end; at++) {
        if (*at == '.' && strchr("bfus", at[1]) && isdigit((unsigned char)at[2]))
            bits = strtoul(at + 2, NULL, 10);
        if (*at == '[') count = strtoul(at + 1, NULL, 10);
    }
    return bits / 8 * count;
}

/* Nothing is known of machine code. */
static void fake_ptx_check(const char *text, const fake_kernel *kernel) {
    const char *at, *list_end;
    size_t n = 0;
    if (text == NULL) return;
    at = fake_ptx_entry(text, kernel->name);
    if (at == NULL) fake_misuse("the program has no kernel %s", kernel->name);
    list_end = strchr(at, ')');
    while ((at = strstr(at, ".param ")) && at < list_end) {
        const char *end = at + strcspn(at, ",)");
        const size_t bytes = fake_ptx_bytes(at + strlen(".param "), end);
        if (n >= kernel->count || bytes != kernel->sizes[n])
            fake_misuse("%s: parameter %zu has %zu bytes, and %zu are given", kernel->name, n,
                        bytes, n < kernel->count ? kernel->sizes[n] : 0);
        n++;
        at = end;
    }
    if (n != kernel->count)
        fake_misuse("%s has %zu parameters, and %zu are given", kernel->name, n, kernel->count);
}

#endif
