/* Compilers: of a context's device, or for devices that need not be there. What they are given, and what they
 * say. */
#ifndef HARRAY_IMPL_KERNELS_COMPILER_H
#define HARRAY_IMPL_KERNELS_COMPILER_H

#include "cache.h"
#include "doubles.h"
#include "kernel_text.h"
#include "long_atomics.h"

enum { HA_LOG_BYTES = 1 << 16 };

typedef struct ha_compiler {
    const ha_backend *backend;
    int is_device;
    void *device;
    const char *name; /* of the context, or of the architecture where there is no device */
    ha_language language;
    char target[1024];
} ha_compiler;

/* Does the device of a context compile kernels? */
HA_IN_ ha_language ha_language_of(const ha_context *c) {
    const ha_backend *b = c->backend;
    if (ha_is_host(c) || !HA_HAS_(b, ha_backend, kernel) || !HA_HAS_(c->ops, ha_queue_ops, launch))
        return HA_LANGUAGE_NONE;
    return b->language(c->device);
}

HA_IN_ ha_compiler ha_compiler_of(const ha_context *c) {
    ha_compiler x = {.backend = c->backend,
                     .is_device = 1,
                     .device = c->device,
                     .name = c->name,
                     .language = ha_language_of(c)};
    if (x.language) c->backend->target(c->device, x.target, sizeof x.target);
    return x;
}

/* *program: of a device alone. */
HA_IN_ ha_status ha_compiler_build(const ha_compiler *x, const ha_program_source *source,
                                   void **program, ha_binary *made) {
    if (x->is_device) return x->backend->build(x->device, source, program, made);
    return x->backend->compile(x->name, source, made);
}

HA_IN_ const char *ha_compiler_options(const ha_kernel *k, ha_language language) {
    if (language == HA_LANGUAGE_OPENCL_C)
        return "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
    return ha_kernel_contracts(k) ? "--fmad=true" : "--fmad=false";
}

/* Of all that a binary is made from. */
HA_IN_ ha_digest ha_program_key(const ha_compiler *x, const ha_program_source *source) {
    ha_sha256 h = ha_sha256_begin();
    ha_sha256_field(&h, HARRAY_VERSION, strlen(HARRAY_VERSION));
    ha_sha256_field(&h, source->text, strlen(source->text));
    ha_sha256_field(&h, source->options, strlen(source->options));
    ha_sha256_field(&h, x->target, strlen(x->target));
    return ha_sha256_end(&h);
}

/* Has the device what the kernel needs? Asked before it is compiled. */
HA_IN_ ha_status ha_device_serves(const ha_backend *b, void *device, const char *name,
                                  const ha_kernel_variant *v) {
    ha_kernel_limits limits;
    ha_status s = ha_doubles_check(v, b, device, name);
    if (!s) s = ha_long_atomics_check(v->kernel, b, device, name);
    if (s || !HA_HAS_(b, ha_backend, limits)) return s;
    s = b->limits(device, &limits);
    if (!s) return ha_team_fits(v->kernel, name, &limits);
    return ha_fail(s, v->kernel->name, "%s: %s does not say how large a team may be",
                   v->kernel->site, name);
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

/* The first line that says "error", else the first one. */
HA_IN_ const char *ha_log_error(const char *log, int *length) {
    const char *line = strstr(log, "error");
    if (!line) line = log;
    while (line > log && line[-1] != '\n') line--;
    *length = (int)strcspn(line, "\n");
    return line;
}

/* where: the context's name, or that of an architecture. */
HA_IN_ ha_status ha_compile_fail(const ha_kernel *k, const char *where, ha_status s,
                                 const char *log) {
    int length;
    const char *line = ha_log_error(log, &length);
    if (s != HA_ERR_COMPILE)
        return ha_fail(s, k->name, "%s: it cannot be compiled for %s", k->site, where);
    ha_forget_note(); /* the log says more */
    return ha_fail(s, k->name, "%s: the compiler of %s refuses %s: %.*s", k->site, where, k->name,
                   length < 250 ? length : 250, line);
}

/* What the compiler says of a text that it refuses, with the user's lines: for that it is compiled once more. */
HA_IN_ void ha_explain(const ha_kernel_variant *of, const ha_compiler *x, char *log) {
    ha_kernel_variant v = *of;
    int unfit;
    char *text = ha_layouts_parse(&v) ? ha_kernel_text(&v, x->language, 1, &unfit) : NULL;
    char *lined = (char *)HARRAY_MALLOC(HA_LOG_BYTES);
    void *program = NULL;
    ha_binary made = {NULL, 0};
    if (text && lined) {
        const ha_program_source source = {.text = text,
                                          .options = ha_compiler_options(v.kernel, x->language),
                                          .log = lined,
                                          .log_bytes = HA_LOG_BYTES};
        *lined = 0;
        const ha_status s = ha_compiler_build(x, &source, &program, &made);
        if (s == HA_ERR_COMPILE && *lined) strcpy(log, lined);
        if (program) x->backend->discard(x->device, program);
    }
    HARRAY_FREE(made.data);
    HARRAY_FREE(lined);
    HARRAY_FREE(text);
    ha_layouts_forget(&v);
}

#endif
