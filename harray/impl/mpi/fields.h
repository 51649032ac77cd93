/* Fields of records as bytes in a row, and back: field by field, by values, so that layouts do not matter. */
#ifndef HARRAY_IMPL_MPI_FIELDS_H
#define HARRAY_IMPL_MPI_FIELDS_H

#include "aware.h"

/* Which leaves of a record are meant. */
typedef struct ha_mpi_leaves {
    unsigned char has[HA_MOST_LEAVES];
    int64_t bytes;   /* of one record's */
    uint64_t digest; /* of their types, in order */
} ha_mpi_leaves;

HA_IN_ void ha_mpi_leaves_add(ha_mpi_leaves *leaves, const ha_record *record, int64_t number) {
    ha_leaf leaf;
    if (leaves->has[number] || ha_record_leaf(record, number, &leaf)) return;
    leaves->has[number] = 1;
    leaves->bytes += (int64_t)ha_dtype_size(leaf.type);
}

/* Values travel in the order of the record, whatever the order of the paths. */
HA_IN_ void ha_mpi_leaves_sum_up(ha_mpi_leaves *leaves, const ha_record *record) {
    const int64_t n = ha_record_leaves(record);
    ha_leaf leaf;
    for (int64_t i = 0; i < n; i++)
        if (leaves->has[i] && !ha_record_leaf(record, i, &leaf))
            leaves->digest = leaves->digest * 131 + (uint64_t)leaf.type;
}

/* Those below one path, which ends at a '+' or with the text. Returns how many characters were read; 0: there is no
 * such field. */
HA_IN_ size_t ha_mpi_leaves_below(ha_mpi_leaves *leaves, const ha_record *record,
                                  const char *paths) {
    char path[256];
    const size_t length = strcspn(paths, "+");
    int64_t number = 0, from = 0;
    size_t first = strspn(paths, " "), end = length;
    while (end > first && paths[end - 1] == ' ') end--;
    if (first >= end || end - first >= sizeof path) return 0;
    memcpy(path, paths + first, end - first);
    path[end - first] = 0;
    while (ha_record_find(record, path, from, &number) == HA_OK) {
        ha_mpi_leaves_add(leaves, record, number);
        from = number + 1;
    }
    return from ? length : 0;
}

HA_IN_ ha_status ha_mpi_leaves_of(ha_mpi_leaves *leaves, const ha_mpi_part *part,
                                  const ha_mpi_call *call) {
    const ha_record *record = ha_records_record(part->records);
    const char *paths = part->paths;
    memset(leaves, 0, sizeof *leaves);
    if (!paths) {
        const int64_t n = ha_record_leaves(record);
        for (int64_t i = 0; i < n; i++) ha_mpi_leaves_add(leaves, record, i);
    }
    while (paths) {
        const size_t length = ha_mpi_leaves_below(leaves, record, paths);
        if (!length)
            return ha_mpi_fail(HA_ERR_ARGUMENT, call, "the records have no field '%.100s'", paths);
        paths = paths[length] ? paths + length + 1 : NULL;
    }
    ha_mpi_leaves_sum_up(leaves, record);
    return HA_OK;
}

/* How many records the box has; -1, told: it is not inside the extents. */
HA_IN_ int64_t ha_mpi_box_size(const ha_mpi_part *part, const ha_mpi_call *call) {
    const int rank = ha_records_rank(part->records);
    int64_t size = 1;
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++) {
        const int64_t first = part->box.first[d], last = part->box.last[d];
        const int64_t extent = d < rank ? ha_records_extent(part->records, d) : 1;
        if (first < 0 || first > last || last > extent) {
            HA_IGNORE(ha_mpi_fail(HA_ERR_ARGUMENT, call,
                                  "indices [%lld, %lld) of dimension %d are not inside its extent "
                                  "of %lld",
                                  (long long)first, (long long)last, d, (long long)extent));
            return -1;
        }
        size *= last - first;
    }
    return size;
}

/* One leaf, row by row. Returns what follows. */
HA_IN_ char *ha_mpi_leaf_move(const ha_records_access *v, const ha_region *box, int64_t leaf,
                              char *bytes, int gathers) {
    const ha_mapped records = {v->mapping, v->blob};
    const int rank = ha_records_rank(v->records), last = rank - 1;
    int64_t index[HA_MOST_DIMENSIONS_];
    ha_leaf of;
    if (ha_record_leaf(ha_records_record(v->records), leaf, &of)) return bytes;
    for (int d = 0; d < rank; d++) index[d] = box->first[d];
    const int64_t n = box->last[last] - box->first[last];
    for (int d = 0; d >= 0;) {
        if (gathers)
            ha_mapped_get_run(&records, leaf, index, last, n, bytes);
        else
            ha_mapped_set_run(&records, leaf, index, last, n, bytes);
        bytes += (size_t)n * ha_dtype_size(of.type);
        for (d = last - 1; d >= 0 && ++index[d] == box->last[d]; d--) index[d] = box->first[d];
    }
    return bytes;
}

/* "read pos+vel". */
HA_IN_ ha_status ha_mpi_fields_open(ha_records_access *v, const ha_mpi_part *part, ha_context *c,
                                    const char *mode) {
    char what[600];
    const char *paths = part->paths ? part->paths : "";
    if (snprintf(what, sizeof what, "%s %s", mode, paths) >= (int)sizeof what)
        return ha_fail(HA_ERR_ARGUMENT, "HA_MPI_FIELDS", "the paths are too long");
    return ha_records_open_box(v, part->records, c, what, part->box);
}

/* The fields become the bytes, or the other way round. There are records in the box. */
HA_IN_ ha_status ha_mpi_fields_move(const ha_mpi_part *part, const ha_mpi_leaves *leaves,
                                    char *bytes, int gathers) {
    ha_records_access v;
    memset(&v, 0, sizeof v);
    ha_status s = ha_mpi_fields_open(&v, part, ha_host(), gathers ? "read" : "overwrite");
    if (s) return s;
    const int64_t n = ha_record_leaves(ha_records_record(part->records));
    for (int64_t i = 0; i < n; i++)
        if (leaves->has[i]) bytes = ha_mpi_leaf_move(&v, &part->box, i, bytes, gathers);
    return ha_records_close(&v);
}

ha_mpi_part ha_mpi_fields_(ha_records *records, const char *paths, ha_region box) {
    ha_mpi_part part;
    memset(&part, 0, sizeof part);
    part.records = records;
    part.paths = paths;
    part.box = box;
    return part;
}

ha_mpi_part ha_mpi_part_(const void *x, size_t bytes) {
    ha_mpi_part part;
    memset(&part, 0, sizeof part);
    if (bytes == sizeof part)
        memcpy(&part, x, bytes);
    else
        part.view = darray_of_any_(bytes, x);
    return part;
}

#endif
