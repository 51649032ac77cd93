/* Record arrays: coherent arrays of records, each memory with a layout of its own.
 *
 *     ha_records *r = ha_records_new(&body_record, 1, &n, NULL);        // an array of structs everywhere
 *     HA_CHECK(ha_records_layout(r, gpu, "soa"));                       // but one array a field there
 *     ha_records_access v;
 *     if (ha_records_open(&v, r, gpu, "read pos+mass, write vel", 0, HA_END) == HA_OK) {
 *         … v.blob[b] are the blobs of v.mapping: pointers into the memory of gpu …
 *         ha_records_close(&v);
 *     }
 *
 * All that access.h says of accesses holds here, for each leaf field and each range of records:
 * what is read is made valid, and only that is moved, from the layout that it has to the one that
 * it is to have. Two accesses conflict when one of them writes, and they have a field and a record
 * in common.
 *
 * Ranges are of the slowest index, the first one: of an array of 10 x 20 records, [2, 4) are those
 * whose first index is 2 or 3. Any layout of layout/mapping.h serves that keeps every value (see
 * ha_records_layout).
 *
 * In layouts of few bits (bitint, bitfloat) values share bytes with their neighbours. Where a memory has such
 * a layout, accesses there lock whole bytes: of 12 bits each two records together, and in bitint(…; aos) all
 * fields that stand there. So two accesses may conflict that have no record in common, one access that reads
 * some of these fields and writes others is one that writes them all, and what is overwritten in part is read
 * for the rest. Elsewhere nothing is different. Views do not read bits: ha_mapped_get and ha_mapped_set of
 * the access's mapping and blobs do (layout/mapped.h), as does whatever memory has another layout.
 *
 * Every function may be called from any thread, at any time; what only asks also from functions on
 * queues: it waits for nobody, even while another thread resizes. A call that fails changes
 * nothing. Errors are told as everywhere (status.h), and name the field. */
#ifndef HARRAY_RECORDS_H
#define HARRAY_RECORDS_H

#include "../layout/each.h"
#include "../layout/mapped.h"
#include "access.h"
#include "array.h"

typedef struct ha_records ha_records;

/* ---- making and freeing ---------------------------------------------------------------------- */

/* Records without values; takes no memory for them yet. rank: 1 to HA_MAPPING_RANK, extents from 0.
 * `layout` is the one in every memory that is given no other (NULL: "aos"). What `record` points at has
 * to outlive the array. NULL on failure:
 *   HA_ERR_ARGUMENT  no record or a bad one, rank or extents, no layout; what ha_records_layout refuses
 *   HA_ERR_MEMORY */
HA_API ha_records *ha_records_new(const ha_record *record, int rank, const int64_t *extent,
                                  const char *layout);

/* The caller's memory as a record array, without a copy: an array of structs, an array for each field
 * (also of one grid in several allocations: docs/records.md), or any other mapping, in the memory of a
 * context (NULL as usual). Mapping and table of blobs are copied;
 * the record and the memory have to stay until ha_records_unwrap. Everywhere else the layout is "aos"
 * until ha_records_layout says something else. flags: as ha_wrap_flags (wrap.h). What is said there holds
 * here. NULL on failure:
 *   HA_ERR_ARGUMENT  no mapping, or one of a tree; a blob with bytes at NULL, or not aligned as the mapping
 *                    says; two that overlap; bad flags; what ha_records_layout refuses; a device's memory
 *                    in which values of bits share bytes
 *   HA_ERR_STATE     another array owns some of it
 *   HA_ERR_MEMORY */
HA_API ha_records *ha_records_wrap(const ha_mapped *memory, ha_context *context, unsigned flags);

/* As ha_array_free, ha_unwrap and ha_sync. NULL is nothing to free or unwrap. Freeing and unwrapping are also
 * HA_ERR_CONFLICT while another thread resizes, syncs or lays out the records, or is about to open them. */
HA_API ha_status ha_records_free(ha_records *records);
#define ha_records_unwrap(records) ha_records_unwrap_(records, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_unwrap_(ha_records *records, const char *site);
#define ha_records_sync(records) ha_records_sync_(records, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_sync_(ha_records *records, const char *site);

/* ---- layouts --------------------------------------------------------------------------------- */

/* The layout in a context's memory. No value is lost: on the host they are converted, and stay valid. From
 * a device what is valid only there is brought to the host; the device has none then until they are asked
 * for there.
 *   HA_ERR_ARGUMENT     the text is no layout; or one that does not keep every value by itself: null, one
 *                       (of several records), values of another type than the field's that does not
 *                       have all its values. Of bits: a value that needs more of them is cut off as
 *                       mapping.h says; rows of more than 2 MiB that end within a byte; bytes that are
 *                       shared by fields that are not beside each other
 *   HA_ERR_STATE        the memory there is the caller's and has another layout, whether accesses are open
 *                       or not
 *   HA_ERR_CONFLICT     accesses are open; of bits, another thread is about to open one
 *   HA_ERR_MEMORY, HA_ERR_BACKEND, HA_ERR_LOST, HA_ERR_TRANSFER  as when opening there */
#define ha_records_layout(records, context, layout)                                                \
    ha_records_layout_(records, context, layout, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_layout_(ha_records *records, ha_context *context,
                                                  const char *layout, const char *site);

/* Where the fields lie in a context's memory. Lives until the layout there or the extents change,
 * or the array goes. NULL: there is no memory for it. */
HA_API const ha_mapping *ha_records_mapping(ha_records *records, ha_context *context);

/* ---- asking ---------------------------------------------------------------------------------- */

HA_API const ha_record *ha_records_record(const ha_records *records);
HA_API int ha_records_rank(const ha_records *records);
HA_API int64_t ha_records_extent(const ha_records *records, int dimension); /* 0: no such one */
HA_API int64_t ha_records_size(const ha_records *records);                  /* records */
HA_API uint64_t
ha_records_version(const ha_records *records); /* raised by every write and resize */

/* A name for messages, as ha_array_set_name. */
HA_API void ha_records_set_name(ha_records *records, const char *name);
HA_API const char *ha_records_name(const ha_records *records); /* valid until set anew */

/* Nonzero when the fields below these paths ("pos+mass"; NULL: all) of the records [first, last)
 * (HA_END: to the end) are valid at the context, so that reading them there moves nothing. 0 when
 * that is no value at all, or a path is not in the record. */
HA_API int ha_records_valid(const ha_records *records, const ha_context *context, const char *paths,
                            size_t first, size_t last);

/* What transfers between memories this array has caused; bytes: of values, without what lies between. */
HA_API ha_statistics ha_records_statistics(const ha_records *records);

/* The state as text: the array, and for each memory its layout and which fields of which records are valid
 * there. As snprintf: at most `bytes` with the final zero, returns the length it would need. */
HA_API size_t ha_records_describe(const ha_records *records, char *text, size_t bytes);

/* ---- changing -------------------------------------------------------------------------------- */

/* Other extents, of the same rank. Values at indices that are in both are kept: they are brought to the
 * host, and valid only there afterwards. Others were never written. HA_ERR_STATE when the memory is the
 * caller's, whether accesses are open or not; HA_ERR_CONFLICT while accesses are open, or another thread
 * is about to open one; HA_ERR_ARGUMENT, HA_ERR_MEMORY, and as opening on the host. */
#define ha_records_resize(records, extent) ha_records_resize_(records, extent, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_resize_(ha_records *records, const int64_t *extent,
                                                  const char *site);

/* One record, as the struct that the record describes; indices are checked. They open an access on the
 * host for the moment: its conflicts apply, and the record is valid there afterwards. get: HA_ERR_STATE
 * when one of its fields was never written. Bytes between the fields are left as they are. */
HA_API HA_MUST_CHECK ha_status ha_records_get(ha_records *records, const int64_t *index,
                                              void *value);
HA_API HA_MUST_CHECK ha_status ha_records_set(ha_records *records, const int64_t *index,
                                              const void *value);

/* ---- accesses -------------------------------------------------------------------------------- */

/* An open access. Members are for reading only; when opening failed, all but `status` are zero. */
typedef struct ha_records_access {
    ha_records *records; /* NULL: not open */
    ha_context *context;
    const ha_mapping *mapping; /* of all records, whatever the range; until it is closed */
    void *const *blob;   /* its blobs, in the context's memory; the table until it is closed */
    int64_t first, last; /* of the slowest index */
    ha_region box;       /* of all indices; [0, 1) where there is none */
    ha_status status;    /* of the opening */
    int parts_;          /* accesses to fields that are neighbours, and opened alike */
    ha_access part_[4], *more_;
} ha_records_access;

/* Opens fields of the records [first, last) (of the slowest index; 0 and HA_END: all) on a context; all
 * fields that are named or none. `what` says which, and how:
 *     what  := ["try"] part "," part …         try: HA_ERR_BUSY instead of waiting for other threads
 *     part  := mode [path "+" path …]          no path: all fields (then it is the only part)
 *     mode  := read | write | overwrite
 *     path  := as in ha_record_find: "pos" for pos.x and pos.y
 * *access must not be open already. Other fields must not be touched. An array of 0 records is opened as a
 * whole: there two accesses conflict whatever their fields, when one of them writes. Errors as ha_open, and
 * HA_ERR_ARGUMENT when `what` is no such text, names what the record does not have, or a field twice. */
#define ha_records_open(access, records, context, what, first, last)                               \
    ha_records_open_(access, records, context, what, ha_records_rows_(first, last), HA_SITE)

/* The same of a box of indices, such as ha_box2(1, n - 1, 1, m - 1): only these records are locked, moved
 * and, when they are written, valid nowhere else any more. HA_ERR_ARGUMENT when it is not inside the
 * extents, or has an index of a dimension that the records do not have. */
#define ha_records_open_box(access, records, context, what, box)                                   \
    ha_records_open_(access, records, context, what, ha_records_box_(box), HA_SITE)
HA_API ha_status ha_records_open_(ha_records_access *access, ha_records *records,
                                  ha_context *context, const char *what, ha_region box,
                                  const char *site);

/* What harray makes of ranges and boxes: there HA_TO_END_ as `last` is the extent, and no number of the
 * user's comes to it. */
#define HA_TO_END_ PTRDIFF_MIN
HA_UNUSED static inline ptrdiff_t ha_records_index_(size_t i) {
    return i > HA_TO_(size_t, PTRDIFF_MAX) ? PTRDIFF_MAX : HA_TO_(ptrdiff_t, i);
}

/* Records [first, last) of the slowest index. */
HA_UNUSED static inline ha_region ha_records_rows_(size_t first, size_t last) {
    return ha_box4(ha_records_index_(first), last == HA_END ? HA_TO_END_ : ha_records_index_(last),
                   0, HA_TO_END_, 0, HA_TO_END_, 0, HA_TO_END_);
}

/* A box of the user's. Where its end would be taken for that of the extent, one as impossible stands for it. */
HA_UNUSED static inline ha_region ha_records_box_(ha_region box) {
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++)
        if (box.last[d] == HA_TO_END_) box.last[d]++;
    return box;
}

/* Ends it, by the thread that opened it: as ha_close. With HARRAY_DEBUG, of records whose layout on the host
 * counts (counts.h), HA_ERR_ARGUMENT when views of them have touched a field that no access named which was
 * open beside this one, or have written one that was opened to be read: it is closed nevertheless. */
#define ha_records_close(access) ha_records_close_(access)
HA_API ha_status ha_records_close_(ha_records_access *access);

/* ha_records_run(f, access, argument, bytes) calls f(here, argument) on the context's queue, with a copy
 * of `bytes` bytes of argument: as ha_enqueue. The blobs may be used in it, if the context can run functions on its data; their
 * addresses have to be in the argument, for mapping and table of blobs may be gone when it runs.
 * The status is also in access->status when it is a failure. */
#define ha_records_run(...) ha_records_run_(__VA_ARGS__, HA_TEXT_OF_1_(__VA_ARGS__, ~), HA_SITE)
HA_API ha_status ha_records_run_(ha_function f, ha_records_access *access, const void *argument,
                                 size_t bytes, const char *name, const char *site);

/* As ha_wait: until all that the access depends on has happened. */
#define ha_records_wait(access) ha_records_wait_(access, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_wait_(ha_records_access *access, const char *site);

/* Starts moving fields ("pos+mass"; NULL: all) to a context, as ha_array_prefetch. When it fails,
 * some may have been moved. */
#define ha_records_prefetch(records, context, paths, first, last)                                  \
    ha_records_prefetch_(records, context, paths, first, last, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_records_prefetch_(ha_records *records, ha_context *context,
                                                    const char *paths, size_t first, size_t last,
                                                    const char *site);

#endif
