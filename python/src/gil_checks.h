/* Of builds for tests, by the option `checks`: whether the GIL is released wherever a thread may wait. Each UNLOCKED is a
 * site, "file.c:12". The engine says when it may wait, and so does MAY_WAIT: with the GIL that aborts, and says so.
 *
 * HARRAY_TEST_KEEP_GIL=SITE in the environment drops the release of one site, so what it runs has to abort.
 * HARRAY_TEST_KEEP_GIL=all drops each of them, until what it runs first may wait: that counts as found, and the GIL is
 * released there instead, so that the program goes on. HARRAY_TEST_GIL_SITES=FILE: at the end of the interpreter the sites are
 * appended to that file, a line for each: "SITE", then "reached" if it was, then "found" if it was. */
#ifndef HARRAY_PYTHON_GIL_CHECKS_H
#define HARRAY_PYTHON_GIL_CHECKS_H

typedef struct {
    const char *file;
    int line;
    atomic_int is_reached, is_found;
} gil_site;

/* What is run without the GIL by a thread; they are one inside of the other, with callbacks between them. */
typedef struct gil_scope {
    gil_site *site;
    PyThreadState *released; /* NULL: it is not */
    struct gil_scope *outer;
} gil_scope;

void gil_leave(gil_scope *scope, gil_site *site);
void gil_return(gil_scope *scope);
void gil_may_wait(void);
void gil_checks_begin(void);
void gil_checks_end(void);

#define UNLOCKED(...)                                                                              \
    do {                                                                                           \
        static gil_site site_ = {__FILE__, __LINE__, 0, 0};                                        \
        static gil_site *const listed_ __attribute__((section("gil_sites"), used)) = &site_;       \
        gil_scope unlocked_;                                                                       \
        gil_leave(&unlocked_, &site_);                                                             \
        __VA_ARGS__;                                                                               \
        gil_return(&unlocked_);                                                                    \
    } while (0)
#define MAY_WAIT() gil_may_wait()
#define CHECKS_BEGIN() gil_checks_begin()
#define CHECKS_END() gil_checks_end()

#endif
