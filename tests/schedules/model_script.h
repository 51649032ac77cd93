/* Where the choices of a script come from, random numbers or bytes, and the text of what it did. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_SCRIPT_H
#define HARRAY_TESTS_SCHEDULES_MODEL_SCRIPT_H

#include "model.h"

static struct {
    uint64_t random;      /* xorshift64*, when there are no bytes */
    const uint8_t *bytes; /* one for each choice; NULL: random numbers */
    size_t left;
    char text[1 << 16];
    size_t length;
} script;

static void script_begin(uint64_t seed, const uint8_t *bytes, size_t count) {
    script.random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    script.bytes = bytes;
    script.left = count;
    script.length = 0;
    script.text[0] = '\0';
}

static int script_has_ended(void) { return script.bytes != NULL && script.left == 0; }

/* A number below n, which is at most 256. When the bytes are used up: 0. */
static uint32_t pick(uint32_t n) {
    if (script.bytes != NULL) {
        if (script.left == 0) return 0;
        script.left--;
        return *script.bytes++ % n;
    }
    script.random ^= script.random >> 12;
    script.random ^= script.random << 25;
    script.random ^= script.random >> 27;
    return (uint32_t)((script.random * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

static int pick_one_in(uint32_t n) { return pick(n) == n - 1; }

/* When the text becomes too long, the older half is dropped. */
static void note_room(size_t room) {
    const size_t half = sizeof script.text / 2;
    if (script.length + room < sizeof script.text) return;
    script.length -= half;
    memmove(script.text, script.text + half, script.length + 1);
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list args;
    note_room(400);
    va_start(args, format);
    const int n = vsnprintf(script.text + script.length, 400, format, args);
    va_end(args);
    if (n > 0) script.length += n < 400 ? (size_t)n : 399;
}

/* The beginning of a step's line. */
static void note_step(void) {
    note("\n%s%4u thread %d: ", model.nested ? "    between: " : "", hb.step, model.current);
}

#endif
