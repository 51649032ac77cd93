/* Records at run time: which fields there are, of which type, and where they lie in a C struct.
 * HA_RECORD describes a struct of the program's; ha_record_parse makes one from text:
 *
 *     ha_error error;
 *     ha_record *particle = ha_record_parse("pos.x:f64 pos.y:f64 mass:f32 flags[4]:bool", &error);
 *     if (!particle) puts(error.text);
 *     …
 *     ha_record_free(particle);
 *
 * A field that carries subscripts, link[4].e[3][3].re, stands for as many leaves as these count, the
 * last subscript varying fastest: link[0].e[0][0].re, link[0].e[0][1].re, …; every other field is one
 * leaf. Leaves are numbered from 0 in this order through the whole record. */
#ifndef HARRAY_LAYOUT_RECORD_H
#define HARRAY_LAYOUT_RECORD_H

#include "dtype.h"
#include "status.h"

enum {
    HA_MOST_SUBSCRIPTS = 6, /* of one field */
    HA_MOST_LEAVES = 4096   /* of one record */
};

/* What one field is. A record may be written by hand, too; who uses it checks it. */
typedef struct ha_field {
    const char *path; /* "pos.x"; subscripts as counts: "link[4].e[3][3].re" */
    ha_dtype type;    /* of one leaf */
    int64_t offset;   /* bytes from the struct's start to the first leaf */
    /* bytes in the struct from one subscript to the next; 0 behind the last */
    int64_t stride[HA_MOST_SUBSCRIPTS + 1];
} ha_field;

/* A struct of `size` bytes of which these fields are known. What a record points at has to live as
 * long as the record and all mappings of it. */
typedef struct ha_record {
    const char *name;
    int64_t size, alignment;
    int64_t fields;
    const ha_field *field;
} ha_record;

/* A record from text:
 *     record    := field field …                         separated by blanks or line ends
 *     field     := path ":" type
 *     path      := name subscripts "." name subscripts …
 *     name      := a letter or "_", then letters, digits, "_"
 *     subscript := "[" number "]"                        at least 1
 *     type      := bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128
 * Offsets, size and alignment are those of a flat C struct of all leaves in their order. The result
 * is the caller's, to be freed by ha_record_free; it needs `text` no more. NULL on failure, with why
 * in *error (NULL: nobody wants to know):
 *     HA_ERR_ARGUMENT  the text is no record: error->code is the position of the character where it
 *                      stops to be one (from 0), and error->text says what was expected there; a
 *                      path that is part of another or comes twice; more than HA_MOST_LEAVES leaves
 *     HA_ERR_MEMORY    there is no memory
 * From any thread. */
HA_API HA_MUST_CHECK ha_record *ha_record_parse(const char *text, ha_error *error);

/* Frees what ha_record_parse has made; NULL is nothing to free. */
HA_API void ha_record_free(ha_record *record);

/* One leaf. */
typedef struct ha_leaf {
    int64_t field;                         /* number of its field in the record */
    int64_t subscript[HA_MOST_SUBSCRIPTS]; /* which of the field's leaves */
    ha_dtype type;
    int64_t offset; /* in the struct */
} ha_leaf;

/* How many leaves a record has; -1 when it is not a right one (see ha_record_check). */
HA_API int64_t ha_record_leaves(const ha_record *record);

/* The leaf of this number, from 0. HA_ERR_ARGUMENT when there is none, *leaf is then untouched. */
HA_API HA_MUST_CHECK ha_status ha_record_leaf(const ha_record *record, int64_t number,
                                              ha_leaf *leaf);

/* Writes the name of a leaf, "link[0].e[2][1].re", with a zero behind it, as snprintf does: gives the
 * length of the whole name, of which at most size - 1 bytes are written. -1: there is no such leaf. */
HA_API int64_t ha_record_leaf_name(const ha_record *record, int64_t number, char *buffer,
                                   size_t size);

/* How many values of the largest leaf a vector of this many bytes holds, which is how many lanes of
 * every leaf can be worked on at once; 0 when it is too short, -1 when the record is not a right one. */
HA_API int64_t ha_record_lanes(const ha_record *record, int64_t bytes);

/* The leaves below a path: all whose names begin with it and then end, or go on with "." or "[". "pos"
 * means pos.x and pos.y; "link[1].e" nine of the leaves above. They need not be neighbours: *first is
 * the lowest of them at or behind `from`. HA_ERR_NOT_FOUND when there is none (any more). */
HA_API HA_MUST_CHECK ha_status ha_record_find(const ha_record *record, const char *path,
                                              int64_t from, int64_t *first);

/* For who looks for many paths in a right record: its fields, `sorted`, by their paths; and, with *at < 0 at
 * first, the next leaves below a path, neighbours: [*first, *end); 0: there are no more. */
typedef struct ha_sorted_field_ {
    uint16_t field, leaf; /* its number, and that of its first leaf */
} ha_sorted_field_;
HA_API void ha_record_sort_(const ha_record *record, ha_sorted_field_ *sorted);
HA_API int ha_record_below_(const ha_record *record, const ha_sorted_field_ *sorted,
                            const char *path, int64_t *at, int64_t *first, int64_t *end);

/* All leaves of a right record. */
HA_API void ha_record_all_leaves_(const ha_record *record, ha_leaf *leaf);
/* The name of one of these, as ha_record_leaf_name, without looking for it. */
HA_API int64_t ha_leaf_name_(const ha_record *record, const ha_leaf *leaf, char *buffer,
                             size_t size);

/* HA_OK for a right record: names are right and none is part of another, scalars are known, all
 * leaves lie inside the struct, and there are at least one and at most HA_MOST_LEAVES of them. Else
 * HA_ERR_ARGUMENT, with why in *error. */
HA_API HA_MUST_CHECK ha_status ha_record_check(const ha_record *record, ha_error *error);

#endif
