/* Mistakes that end the program, made in a child: what that prints and how it ends is compared with what it
 * announced itself. The program itself must not call harray, so that a child is not one that was forked
 * from a user of it.
 *
 * Include behind harray.h with HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_TESTS_SUPPORT_MISTAKES_H
#define HARRAY_TESTS_SUPPORT_MISTAKES_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- in the child --------------------------------------------------------------------------- */

/* Announces a line that is to come from harray. */
__attribute__((format(printf, 1, 2))) static void expect(const char *format, ...) {
    char text[600] = "expected: ";
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    n += (size_t)vsnprintf(text + n, sizeof text - n, format, args);
    va_end(args);
    text[n++] = '\n';
    if (write(STDERR_FILENO, text, n) != (ssize_t)n) _exit(2);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, "%s: not so: %s\n", HA_SITE, #condition);                                  \
        _exit(3);                                                                                  \
    } while (0)

/* Stays reachable, for valgrind. */
static harray_double named(const char *name, size_t n) {
    static ha_array *volatile kept[8];
    static size_t count;
    harray_double x = harray_double_zeros(n);
    CHECK(x.array && count < sizeof kept / sizeof *kept);
    kept[count++] = x.array;
    harray_double_set_name(x, name);
    return x;
}

static HA_UNUSED double peek(const double *p) { return *(const volatile double *)p; }

static HA_UNUSED void poke(const double *p) { *(volatile double *)(uintptr_t)p = 1; }

/* ---- the parent ----------------------------------------------------------------------------- */

enum { OUTPUT = 16000 };

typedef struct outcome {
    int status;
    char text[OUTPUT];
} outcome;

/* As a program of its own would begin: cmocka has put handlers in place. */
static void begin_child(int output) {
    const struct rlimit no_core = {0, 0};
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(output, STDERR_FILENO);
    close(output);
}

static outcome run_child(void (*f)(void)) {
    outcome o = {.status = 0};
    int ends[2];
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        begin_child(ends[1]);
        f();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], o.text + length, OUTPUT - 1 - length)) > 0;)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &o.status, 0), child);
    return o;
}

static size_t lines_with(const char *text, const char *begin) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, begin)); at++) n += at == text || at[-1] == '\n';
    return n;
}

/* Every line that was announced came once. Returns how many were. */
static size_t check_lines(const outcome *o) {
    const char announce[] = "expected: ";
    size_t n = 0;
    for (const char *at = o->text; (at = strstr(at, announce)); n++) {
        char line[OUTPUT] = "harray: ";
        at += strlen(announce);
        size_t length = strcspn(at, "\n");
        memcpy(line + strlen(line), at, length);
        strcat(line, "\n");
        if (lines_with(o->text, line) != 1) fail_msg("missing: %sin:\n%s", line, o->text);
    }
    if (lines_with(o->text, "harray: ") != n) fail_msg("too many lines:\n%s", o->text);
    return n;
}

/* The child told what it announced, and died as it would have. */
static void crashes(void (*f)(void)) {
    const outcome o = run_child(f);
    if (!WIFSIGNALED(o.status) || WTERMSIG(o.status) != SIGSEGV)
        fail_msg("status %x:\n%s", (unsigned)o.status, o.text);
    assert_int_equal(check_lines(&o), 1);
}

/* The child told what it announced, and went on. */
static void goes_on(void (*f)(void), int code) {
    const outcome o = run_child(f);
    if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != code)
        fail_msg("status %x:\n%s", (unsigned)o.status, o.text);
    (void)check_lines(&o);
}

#define CRASHES(name)                                                                              \
    static void name##_fault(void);                                                                \
    static void name(HA_UNUSED void **state) { crashes(name##_fault); }                            \
    static void name##_fault(void)
#define GOES_ON_TO(code, name)                                                                     \
    static void name##_child(void);                                                                \
    static void name(HA_UNUSED void **state) { goes_on(name##_child, code); }                      \
    static void name##_child(void)
#define GOES_ON(name) GOES_ON_TO(0, name)

#endif
