/* Records in memory, for tests of what is done with any layout. Behind layout.h. */
#ifndef HARRAY_TESTS_SUPPORT_LAYOUT_BLOBS_H
#define HARRAY_TESTS_SUPPORT_LAYOUT_BLOBS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BLOBS = 70 };

typedef struct memory {
    ha_record *record; /* NULL: somebody else's */
    ha_mapping *mapping;
    void *blob[MOST_BLOBS];
    ha_mapped mapped;
} memory;

/* Exactly as much memory as there is, so that sanitizers see what goes beyond: from an address on
 * that is a multiple of this, or anywhere (0). */
static void *new_blob(int64_t bytes, size_t alignment) {
    const size_t size = (size_t)bytes;
    void *blob = alignment ? aligned_alloc(alignment, size / alignment * alignment + alignment)
                           : malloc(size + (size == 0));
    assert_non_null(blob);
    return blob;
}

/* Filled with one byte. */
static void new_memory(memory *m, const ha_record *r, const char *layout, int rank,
                       const int64_t *extent, size_t alignment, int fill) {
    ha_error error;
    m->record = NULL;
    m->mapping = ha_mapping_parse(r, layout, rank, extent, &error);
    if (!m->mapping) fail_msg("%s: %s", layout, error.text);
    assert_in_range(m->mapping->blobs, 0, MOST_BLOBS);
    for (int b = 0; b < m->mapping->blobs; b++) {
        m->blob[b] = new_blob(m->mapping->blob[b].bytes, alignment);
        memset(m->blob[b], fill, (size_t)m->mapping->blob[b].bytes);
    }
    m->mapped = (ha_mapped){m->mapping, m->blob};
}

/* The same mapping, and blobs of its own with what those of the other one have in them. */
static inline void copy_memory(memory *m, const memory *other, size_t alignment) {
    *m = *other;
    for (int b = 0; b < m->mapping->blobs; b++) {
        m->blob[b] = new_blob(m->mapping->blob[b].bytes, alignment);
        memcpy(m->blob[b], other->blob[b], (size_t)m->mapping->blob[b].bytes);
    }
    m->mapped.blob = m->blob;
}

static void free_blobs(memory *m) {
    for (int b = 0; b < m->mapping->blobs; b++) free(m->blob[b]);
}

static void free_memory(memory *m) {
    free_blobs(m);
    ha_mapping_free(m->mapping);
    ha_record_free(m->record);
}

/* Goes on, the last index being the fastest; 0 behind the last. */
static inline int next_index(const int64_t *first, const int64_t *last, int rank, int64_t *index) {
    for (int d = rank; d-- > 0;) {
        if (++index[d] < last[d]) return 1;
        index[d] = first[d];
    }
    return 0;
}

#endif
