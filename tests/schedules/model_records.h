/* Records of arrays, contexts and memories, at addresses that rise in the order in which they are asked for. The engine
 * goes by their addresses where it has to take several in some order, so a script would do something else wherever the
 * heap is another one: where the program lies in another folder, as texts there have its length, or where other
 * scripts ran before.
 *
 * The records of a script are given back when it ends (ha_shutdown), and the next one begins anew. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_RECORDS_H
#define HARRAY_TESTS_SCHEDULES_MODEL_RECORDS_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* AddressSanitizer sees who uses what was given back, or is between two records. */
#ifdef HA_POISONS_
#define MODEL_POISON(memory, bytes) __asan_poison_memory_region(memory, bytes)
#define MODEL_UNPOISON(memory, bytes) __asan_unpoison_memory_region(memory, bytes)
#else
#define MODEL_POISON(memory, bytes) ((void)0)
#define MODEL_UNPOISON(memory, bytes) ((void)0)
#endif

enum { MODEL_RECORDS_BYTES = 16 << 20, MODEL_GAP = 64 };
static struct {
    _Alignas(64) char bytes[MODEL_RECORDS_BYTES];
    atomic_size_t taken; /* bytes */
    atomic_size_t count; /* that were not given back */
} model_records;

/* Which of them it is, by its size; 0: something else. */
static size_t model_record_bytes(size_t bytes) {
    return bytes == sizeof(ha_array) || bytes == sizeof(ha_context) || bytes == sizeof(ha_memory)
               ? (bytes + MODEL_GAP + 63) & ~(size_t)63
               : 0;
}

static int model_is_record(const void *memory) {
    return (uintptr_t)memory - (uintptr_t)model_records.bytes < sizeof model_records.bytes;
}

static void *model_malloc(size_t bytes) {
    const size_t taken = model_record_bytes(bytes);
    if (!taken) return malloc(bytes);
    const size_t at = atomic_fetch_add(&model_records.taken, taken);
    if (taken > MODEL_RECORDS_BYTES - at) abort();
    char *record = model_records.bytes + at;
    MODEL_POISON(record, taken);
    MODEL_UNPOISON(record, bytes);
    atomic_fetch_add(&model_records.count, 1);
    return record;
}

/* Its bytes stay until the script has ended. */
static void model_free(void *memory) {
    if (!model_is_record(memory)) {
        free(memory);
        return;
    }
    const size_t least = sizeof(ha_array) < sizeof(ha_context) ? sizeof(ha_array)
                                                               : sizeof(ha_context);
    memset(memory, 0x5a, least); /* so that it points to nothing that is lost */
    MODEL_POISON(memory, least);
    if (atomic_fetch_sub(&model_records.count, 1) == 1) atomic_store(&model_records.taken, 0);
}

/* None of these records grows. */
static void *model_realloc(void *memory, size_t bytes) {
    if (model_is_record(memory)) abort();
    return realloc(memory, bytes);
}

/* How many the engine has not given back. */
static size_t model_records_left(void) { return atomic_load(&model_records.count); }

#endif
