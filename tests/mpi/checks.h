/* Checks of programs on ranks, which say where they failed and on which one. To be included behind harray_mpi.h or
 * harray_hdf5.h. */
#ifndef HARRAY_TESTS_MPI_CHECKS_H
#define HARRAY_TESTS_MPI_CHECKS_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD

static int me, ranks;

/* ---- checks ----------------------------------------------------------------------------------- */

static int failures;
static int rows_types; /* that were made and not freed yet, where that is counted (watch_mpi.h) */
static const char *doing = "";

__attribute__((format(printf, 2, 3))) static void complain(int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[700];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (failures++ < 20) fprintf(stderr, "# rank %d, line %d, %s: %s\n", me, line, doing, text);
}

#define IS_TRUE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) complain(__LINE__, "%s", #condition);                                    \
    } while (0)
#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        const ha_status s_ = (call);                                                               \
        if (s_) complain(__LINE__, "%s: %s: %s", #call, ha_status_name(s_), ha_take_error().text); \
    } while (0)
/* Its text has to have these words. */
#define FAILS(status, words, call)                                                                 \
    do {                                                                                           \
        const ha_status s_ = (call);                                                               \
        const ha_error e_ = ha_take_error();                                                       \
        if (s_ != (status) || !strstr(e_.text, words))                                             \
            complain(__LINE__, "%s: %s, %s", #call, ha_status_name(s_), e_.text);                  \
    } while (0)

/* The cases that have been tried, as TAP. */
static int cases;
static void end_case(const char *name) {
    int all = 0;
    const ha_error e = ha_take_error();
    if (e.status) complain(__LINE__, "an error is left: %s", e.text);
    if (rows_types) complain(__LINE__, "%d types were not freed", rows_types);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, WORLD);
    if (!me) printf("%s %d - %s\n", all ? "not ok" : "ok", ++cases, name);
}

#endif
