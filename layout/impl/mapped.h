/* Values of records in memory, one at a time and in runs. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPED_H
#define HARRAY_LAYOUT_IMPL_MAPPED_H

#include "../mapped.h"
#include "counts.h"

static int64_t ha_mapped_size(const ha_mapped *records, int64_t leaf) {
    ha_leaf described = {.scalar = HA_NO_SCALAR};
    (void)!ha_record_leaf(records->mapping->record, leaf, &described);
    return ha_scalar_size(described.scalar);
}

static char *ha_mapped_place(const ha_mapped *records, int64_t leaf, const int64_t *index) {
    const ha_row *row = &records->mapping->row[leaf];
    if (row->blob < 0) return NULL;
    return (char *)records->blob[row->blob] + ha_mapping_offset(records->mapping, leaf, index);
}

HA_API void ha_mapped_get(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          void *value) {
    const char *place = ha_mapped_place(records, leaf, index);
    const size_t size = (size_t)ha_mapped_size(records, leaf);
    ha_count_run(records->mapping, leaf, index, 0, 1, HA_READ_);
    if (place)
        memcpy(value, place, size);
    else
        memset(value, 0, size);
}

HA_API void ha_mapped_set(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          const void *value) {
    char *place = ha_mapped_place(records, leaf, index);
    ha_count_run(records->mapping, leaf, index, 0, 1, HA_WRITE_);
    if (place) memcpy(place, value, (size_t)ha_mapped_size(records, leaf));
}

HA_API void ha_mapped_get_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, void *values) {
    int64_t at[HA_MAPPING_RANK] = {0};
    const int64_t size = ha_mapped_size(records, leaf);
    for (int d = 0; d < records->mapping->rank; d++) at[d] = index[d];
    for (int64_t k = 0; k < count; k++, at[dimension]++)
        ha_mapped_get(records, leaf, at, (char *)values + k * size);
}

HA_API void ha_mapped_set_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, const void *values) {
    int64_t at[HA_MAPPING_RANK] = {0};
    const int64_t size = ha_mapped_size(records, leaf);
    for (int d = 0; d < records->mapping->rank; d++) at[d] = index[d];
    for (int64_t k = 0; k < count; k++, at[dimension]++)
        ha_mapped_set(records, leaf, at, (const char *)values + k * size);
}

#endif
