/* .npy files as the memory of arrays of n dimensions. */
#ifndef HARRAY_IMPL_EXCHANGE_NPY_MAP_H
#define HARRAY_IMPL_EXCHANGE_NPY_MAP_H

#include <sys/mman.h>

#include "npy_arrays.h"

typedef struct ha_npy_map {
    char *first;
    size_t bytes;
} ha_npy_map;

HA_IN_ void ha_npy_unmap(void *user) {
    ha_npy_map *m = (ha_npy_map *)user;
    munmap(m->first, m->bytes);
    HARRAY_FREE(m);
}

/* All of an ordinary file. */
HA_IN_ ha_status ha_npy_map_file(const ha_npy_file *f, unsigned flags, ha_npy_map *m) {
    const int writes = flags & HA_MAP_COPY_ON_WRITE ? PROT_WRITE : 0;
    struct stat file;
    if (fstat(fileno(f->file), &file)) return ha_npy_fail(f, HA_ERR_BACKEND, "cannot be mapped");
    if (!S_ISREG(file.st_mode))
        return ha_fail(HA_ERR_UNSUPPORTED, f->operation, "%.200s is no ordinary file: load it",
                       ha_npy_path(f));
    if (!file.st_size) return ha_npy_cut(f, 0, HA_NPY_ALIGNMENT);
    m->bytes = (size_t)file.st_size;
    void *first = mmap(NULL, m->bytes, PROT_READ | writes, MAP_PRIVATE, fileno(f->file), 0);
    if (first == MAP_FAILED) return ha_npy_fail(f, HA_ERR_MEMORY, "cannot be mapped");
    m->first = (char *)first;
    return HA_OK;
}

/* What must be as it is in memory. */
HA_IN_ ha_status ha_npy_mappable(const ha_npy_file *f, const ha_npy_header *h,
                                 const ha_npy_map *m) {
    const uint64_t wanted = h->bytes + ha_npy_bytes(h);
    if (m->bytes < wanted) return ha_npy_cut(f, m->bytes, wanted);
    if (m->bytes > wanted)
        return ha_fail(HA_ERR_ARGUMENT, f->operation,
                       "%.200s has %llu bytes behind its last element", ha_npy_path(f),
                       (unsigned long long)(m->bytes - wanted));
    if (h->swapped)
        return ha_fail(HA_ERR_UNSUPPORTED, f->operation,
                       "the numbers in %.200s have their bytes in the other order: load it",
                       ha_npy_path(f));
    if (h->bytes % ha_dtype_alignment(h->type))
        return ha_fail(HA_ERR_UNSUPPORTED, f->operation,
                       "the elements in %.200s begin at byte %zu, which is not aligned: load it",
                       ha_npy_path(f), h->bytes);
    return HA_OK;
}

/* The map is the array's from here on, if there is one. */
HA_IN_ darray ha_npy_wrap(const ha_npy_file *f, const ha_npy_header *h, unsigned flags,
                          ha_npy_map *m) {
    int64_t stride[HA_MOST_RANK];
    ha_npy_map *kept = (ha_npy_map *)HARRAY_MALLOC(sizeof *kept);
    if (!kept) {
        ha_fail(HA_ERR_MEMORY, f->operation, "no memory for its records");
        return ha_no_darray;
    }
    *kept = *m;
    HA_IGNORE_(ha_extents_strides(h->rank, h->extent, h->order, stride)); /* they fit */
    darray x = darray_wrap(h->type, h->rank, h->extent, stride, m->first + h->bytes, ha_host(),
                           flags & HA_MAP_COPY_ON_WRITE ? 0 : HA_WRAP_CONST);
    if (x.array && !ha_array_set_release(x.array, ha_npy_unmap, kept)) return x;
    HA_IGNORE_(darray_free(&x));
    HARRAY_FREE(kept);
    return ha_no_darray;
}

HA_IN_ darray ha_npy_map_open(const ha_npy_file *f, unsigned flags) {
    ha_npy_header h;
    ha_npy_map m;
    darray x = ha_no_darray;
    ha_status s = ha_npy_map_file(f, flags, &m);
    if (s) return ha_no_darray;
    s = ha_npy_parse_named(f, m.first, m.bytes, &h);
    if (!s) s = ha_npy_mappable(f, &h, &m);
    const int is_empty = !s && m.bytes == h.bytes;
    if (!s && !is_empty) x = ha_npy_wrap(f, &h, flags, &m);
    if (x.array) return x;
    munmap(m.first, m.bytes);
    return is_empty ? darray_new_in(h.order, h.type, h.rank, h.extent, ha_host()) : ha_no_darray;
}

darray darray_map_npy(const char *path, unsigned flags) {
    const char *const operation = "darray_map_npy";
    ha_npy_file f;
    if (flags & ~(unsigned)HA_MAP_COPY_ON_WRITE) {
        ha_fail(HA_ERR_ARGUMENT, operation, "unknown flags %u", flags);
        return ha_no_darray;
    }
    if (ha_npy_open(&f, path, operation)) return ha_no_darray;
    const darray x = ha_npy_map_open(&f, flags);
    fclose(f.file);
    return x;
}

#endif
