/* The functions of OpenCL as the backend calls them, each behind a question: a test may have a call fail, and
 * sees which queues have commands that were not flushed. Include behind backends/opencl/opencl.h. */
#ifndef HARRAY_TESTS_SUPPORT_OPENCL_CALLS_H
#define HARRAY_TESTS_SUPPORT_OPENCL_CALLS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OPENCL_MOST_QUEUES = 256 };

static struct {
    ha_cl_functions real;
    ha_cl_usm_functions usm;
    ha_cl_code (*ask)(
        const char *function); /* "clFlush": what it gives instead of being called, if not 0 */
    pthread_mutex_t lock;
    uintptr_t queue[OPENCL_MOST_QUEUES]; /* with commands behind the last flush; 0: a free place */
} opencl_calls = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is not flushed ------------------------------------------------------------------------- */

static void opencl_note_queue(uintptr_t queue, int waits) {
    int i = 0, unused = -1;
    pthread_mutex_lock(&opencl_calls.lock);
    for (; i < OPENCL_MOST_QUEUES && opencl_calls.queue[i] != queue; i++)
        if (opencl_calls.queue[i] == 0) unused = i;
    if (i < OPENCL_MOST_QUEUES && !waits) opencl_calls.queue[i] = 0;
    if (i == OPENCL_MOST_QUEUES && waits) {
        if (unused < 0) abort();
        opencl_calls.queue[unused] = queue;
    }
    pthread_mutex_unlock(&opencl_calls.lock);
}

/* Queues with commands that the driver need not have begun. */
static HA_UNUSED int opencl_unflushed(void) {
    int n = 0;
    pthread_mutex_lock(&opencl_calls.lock);
    for (int i = 0; i < OPENCL_MOST_QUEUES; i++) n += opencl_calls.queue[i] != 0;
    pthread_mutex_unlock(&opencl_calls.lock);
    return n;
}

/* A call has succeeded. Of those that take a queue it is the first argument. */
static void opencl_note(const char *function, uintptr_t first) {
    if (!strncmp(function, "clEnqueue", 9)) opencl_note_queue(first, 1);
    if (!strcmp(function, "clFlush") || !strcmp(function, "clFinish")) opencl_note_queue(first, 0);
}

static ha_cl_code opencl_ask(const char *function) {
    return opencl_calls.ask != NULL ? opencl_calls.ask(function) : HA_CL_SUCCESS;
}

/* ---- each function --------------------------------------------------------------------------------- */

/* The number of parameters; these with names; the names; the last one. */
#define CL_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, number, ...) number
#define CL_COUNT(...) CL_COUNT_(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, ~)
#define CL_JOIN_(a, b) a##b
#define CL_JOIN(a, b) CL_JOIN_(a, b)
#define CL_P_(T, name) __typeof__(T) name
#define CL_NAMED_1(A) CL_P_(A, a1)
#define CL_NAMED_2(A, B) CL_NAMED_1(A), CL_P_(B, a2)
#define CL_NAMED_3(A, B, C) CL_NAMED_2(A, B), CL_P_(C, a3)
#define CL_NAMED_4(A, B, C, D) CL_NAMED_3(A, B, C), CL_P_(D, a4)
#define CL_NAMED_5(A, B, C, D, E) CL_NAMED_4(A, B, C, D), CL_P_(E, a5)
#define CL_NAMED_6(A, B, C, D, E, F) CL_NAMED_5(A, B, C, D, E), CL_P_(F, a6)
#define CL_NAMED_7(A, B, C, D, E, F, G) CL_NAMED_6(A, B, C, D, E, F), CL_P_(G, a7)
#define CL_NAMED_8(A, B, C, D, E, F, G, H) CL_NAMED_7(A, B, C, D, E, F, G), CL_P_(H, a8)
#define CL_NAMED_9(A, B, C, D, E, F, G, H, I) CL_NAMED_8(A, B, C, D, E, F, G, H), CL_P_(I, a9)
#define CL_NAMED_10(A, B, C, D, E, F, G, H, I, J)                                                  \
    CL_NAMED_9(A, B, C, D, E, F, G, H, I), CL_P_(J, a10)
#define CL_NAMED_11(A, B, C, D, E, F, G, H, I, J, K)                                               \
    CL_NAMED_10(A, B, C, D, E, F, G, H, I, J), CL_P_(K, a11)
#define CL_NAMED_12(A, B, C, D, E, F, G, H, I, J, K, L)                                            \
    CL_NAMED_11(A, B, C, D, E, F, G, H, I, J, K), CL_P_(L, a12)
#define CL_NAMED_13(A, B, C, D, E, F, G, H, I, J, K, L, M)                                         \
    CL_NAMED_12(A, B, C, D, E, F, G, H, I, J, K, L), CL_P_(M, a13)
#define CL_NAMED_14(A, B, C, D, E, F, G, H, I, J, K, L, M, N)                                      \
    CL_NAMED_13(A, B, C, D, E, F, G, H, I, J, K, L, M), CL_P_(N, a14)
#define CL_NAMES_1 a1
#define CL_NAMES_2 CL_NAMES_1, a2
#define CL_NAMES_3 CL_NAMES_2, a3
#define CL_NAMES_4 CL_NAMES_3, a4
#define CL_NAMES_5 CL_NAMES_4, a5
#define CL_NAMES_6 CL_NAMES_5, a6
#define CL_NAMES_7 CL_NAMES_6, a7
#define CL_NAMES_8 CL_NAMES_7, a8
#define CL_NAMES_9 CL_NAMES_8, a9
#define CL_NAMES_10 CL_NAMES_9, a10
#define CL_NAMES_11 CL_NAMES_10, a11
#define CL_NAMES_12 CL_NAMES_11, a12
#define CL_NAMES_13 CL_NAMES_12, a13
#define CL_NAMES_14 CL_NAMES_13, a14
#define CL_NAMED(...) CL_JOIN(CL_NAMED_, CL_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define CL_NAMES(...) CL_JOIN(CL_NAMES_, CL_COUNT(__VA_ARGS__))
#define CL_LAST(...) CL_JOIN(a, CL_COUNT(__VA_ARGS__))

/* What a call gives that fails: its result, or, where that is an object, by its last argument. */
#define CL_FAILED_ha_cl_code(code, last) code
#define CL_FAILED_OBJECT_(code, last) (*(ha_cl_code *)(last) = code, NULL)
#define CL_FAILED_ha_cl_context CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_queue CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_mem CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_event CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_program CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_kernel CL_FAILED_OBJECT_
#define CL_FAILED_ha_cl_address(code, last) NULL

/* Whether the result tells of a success. */
#define CL_SUCCEEDED_ha_cl_code(result) ((result) == HA_CL_SUCCESS)
#define CL_SUCCEEDED_OBJECT_(result) ((result) != NULL)
#define CL_SUCCEEDED_ha_cl_context CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_queue CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_mem CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_event CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_program CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_kernel CL_SUCCEEDED_OBJECT_
#define CL_SUCCEEDED_ha_cl_address CL_SUCCEEDED_OBJECT_

#define CL_BEHIND_A_QUESTION_(functions, field, result, parameters)                                \
    static HA_UNUSED result opencl_##field(CL_NAMED parameters) {                                  \
        const ha_cl_code code = opencl_ask("cl" #field);                                           \
        if (code != HA_CL_SUCCESS) return CL_FAILED_##result(code, CL_LAST parameters);            \
        const result given = opencl_calls.functions.field(CL_NAMES parameters);                    \
        if (CL_SUCCEEDED_##result(given)) opencl_note("cl" #field, (uintptr_t)a1);                 \
        return given;                                                                              \
    }
#define CL_BEHIND_A_QUESTION(field, result, parameters)                                            \
    CL_BEHIND_A_QUESTION_(real, field, result, parameters)
#define CL_USM_BEHIND_A_QUESTION(field, result, parameters)                                        \
    CL_BEHIND_A_QUESTION_(usm, field, result, parameters)
HA_CL_FUNCTIONS_(CL_BEHIND_A_QUESTION)
HA_CL_USM_FUNCTIONS_(CL_USM_BEHIND_A_QUESTION)

static const ha_cl_functions opencl_asking = {
#define CL_FIELD(field, result, parameters) opencl_##field,
    HA_CL_FUNCTIONS_(CL_FIELD)
#undef CL_FIELD
};

/* The backend asks for functions of memory with addresses by their names: it gets those here. */
static ha_cl_address opencl_find(ha_cl_platform platform, const char *name) {
    const ha_cl_address found = opencl_GetExtensionFunctionAddressForPlatform(platform, name);
    ha_cl_address instead = found;
#define CL_FIND(field, result, parameters)                                                         \
    if (found && !strcmp(name, "cl" #field)) {                                                     \
        result(*const asking) parameters = opencl_##field;                                         \
        memcpy(&opencl_calls.usm.field, &found, sizeof found);                                     \
        memcpy(&instead, &asking, sizeof asking);                                                  \
    }
    HA_CL_USM_FUNCTIONS_(CL_FIND)
#undef CL_FIND
    return instead;
}

/* Looks for devices; from now on the backend's calls are asked about. PoCL, unless it is told otherwise, gets
 * two devices. Returns how many there are. */
static HA_UNUSED int opencl_begin_asking(void) {
    (void)setenv("POCL_DEVICES", "pthread pthread", 0);
    const int count = ha_backend_opencl.count();
    if (count > 0 && opencl_calls.real.Finish == NULL) {
        opencl_calls.real = ha_cl;
        ha_cl = opencl_asking;
        ha_cl.GetExtensionFunctionAddressForPlatform = opencl_find;
    }
    return count;
}

#endif
