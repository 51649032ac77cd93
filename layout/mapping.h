/* Mappings at run time: where in memory which field of which record of an array lies.
 *
 *     const int64_t extent[] = {16, 16}, at[] = {0, 1};
 *     ha_mapping *m = ha_mapping_parse(&particle, "aosoa(8)", 2, extent, &error);
 *     void *blob = malloc((size_t)m->blob[0].bytes);                      // all of it
 *     double *x = (double *)((char *)blob + ha_mapping_offset(m, 0, at)); // pos.x of record (0, 1)
 *     …
 *     ha_mapping_free(m);
 *
 * Whatever the layout, a mapping is a table: one row for each leaf, which is affine in the linear
 * index of the record, and a few linearizers, which make one index of several. A table can also be
 * written by hand, for memory that is laid out by somebody else: see ha_mapping_check.
 *
 * Layouts as text (blanks are free; "@" may stand behind the leaf layouts aos, soa, aosoa and one):
 *     aos                 the records one after the other. Of a whole record: the C struct; of a part
 *                         of one: a struct of its leaves in their order
 *     aos(packed)         without gaps: most leaves are then misaligned
 *     aos(minalign)       leaves sorted by their alignment, so that hardly a gap remains
 *     soa                 an array for each leaf, each in a blob of its own
 *     soa(fields)         an array for each field, in which the elements of an array field are neighbours,
 *                         each in a blob of its own: double r[n][3], m[n]
 *     soa(single)         these arrays one after the other in one blob, without gaps
 *     soa(single,aligned) each begins at a multiple of its alignment
 *     aosoa(N)            blocks of N records, in each of which a leaf's N values are neighbours
 *     aosoa(N,aligned)    the values of a leaf begin at N times its offset in the aligned struct
 *     aosoa(N,rows)       the fastest extent is padded to whole blocks, so that each row begins one
 *     one, one(packed), one(minalign)    a single record, which all indices share, as aos but without
 *                         padding at its end
 *     null                nothing is stored
 *     split(PATH+PATH…: A, B)            the leaves below these paths as A, all others as B, which
 *                         lies behind A in the same blob
 *     split(separate; PATH+PATH…: A, B)  B has blobs of its own, numbered behind A's
 *     permute(P0,P1,…, A) A, as if index number P0 were the first, P1 the second, …
 *     tree(F, F, …)       array and record as one tree, changed by the functors idem, leafonly and
 *                         movedown(C0/C1/…;K): see tree.h
 *     @row, @col, @morton the last index varies fastest (default), the first, or bits of all by turns
 *
 * Computed: what lies in memory is made of the values; mapped.h reads and writes them.
 *     changetype(FROM:TO, …; A)  A of fields of other types: FROM is a type, or the path of fields, which
 *                         wins over types and over shorter paths; TO is a type. Complex numbers stay
 *                         complex, others real
 *     byteswap(A)         A with the bytes of each number (of each part of a complex one) in the other
 *                         order
 *     bytesplit(A)        A as if each field were an array of its bytes, [0] being the first in memory
 *     bitint(BITS; soa)   integers and bool, of which only so many bits are stored, one behind the other,
 *                         an array for each leaf in a blob of its own: the sign of signed ones, which
 *                         counts, and the lowest of the others. 1 to 64
 *     bitint(BITS; aos)   the same, record behind record, in one blob
 *     bitfloat(E,M; soa), bitfloat(E,M; aos)  real numbers, of 1 bit for the sign, E for the exponent (1
 *                         to 11), M for the mantissa (0 to 52). What of a value's mantissa goes beyond
 *                         is cut off. What is too large becomes infinite, what is smaller than
 *                         2^(2 - 2^(E-1)) zero, unless E is the width of its type's own exponent; NaN
 *                         is infinite when M is 0
 *     In bitint and bitfloat aos and soa have no options but @row, @col, @morton. Their blobs consist of
 *     whole words of 8 bytes, or of 4 when no leaf there has more than 4; no more bits than a word has.
 *     One inside the other: each value is converted, swapped, and then split into bytes or cut to bits.
 *     Inside bytesplit there is nothing left to be converted, swapped, or cut to bits.
 *
 * Instruments (counts.h), which stand outside of all others, each once at most:
 *     count(A)            A; how often each leaf is read and written is counted
 *     heatmap(A)          A; how often each line of 64 bytes is touched is
 *     heatmap(BYTES; A)   the same by so many bytes, 1 to 1048576 */
#ifndef HARRAY_LAYOUT_MAPPING_H
#define HARRAY_LAYOUT_MAPPING_H

#include "detail/base.h"
#include "record.h"
#include "tree.h"

/* Makes one linear index, 0 … count - 1, of several.
 *     strided: the sum of index[d] * stride[d]
 *     Morton:  bit b of index[d] becomes bit b * rank + stride[d] */
typedef struct ha_linearizer {
    int32_t morton; /* 1: Morton; 0: strided */
    int32_t rank;
    int64_t stride[HA_MAPPING_RANK];    /* 0 behind the rank */
    int32_t dimension[HA_MAPPING_RANK]; /* from the slowest to the fastest */
    int64_t pad;   /* the fastest extent is padded to a multiple of it; 1: not */
    int64_t count; /* linear indices there are; may be more than records */
} ha_linearizer;

/* Where one leaf lies: with linear index i at
 *     base + i / lanes * block_stride + i % lanes * lane_stride
 * bytes in its blob. blob < 0: it is not stored. Of a tree: as tree.h says, from base on. */
typedef struct ha_row {
    int32_t blob;
    int32_t linearizer; /* which of the mapping's; < 0: by its branch number -1 - linearizer */
    int64_t base, lane_stride, block_stride;
    int64_t lanes;   /* at least 1 */
    int32_t packed;  /* 1: a value may lie misaligned, even in an aligned blob */
    int32_t section; /* which of the mapping's sections it lies in, < 0: not said */
    int64_t offset;  /* and where in that: base = start of the section + offset */
    int32_t coding;  /* 0: the value itself lies there; k: as the mapping's coding[k - 1] says */
    int32_t type;    /* the values' type, an ha_dtype; 0, in tables by hand: look into the record */
} ha_row;

/* What lies in memory in place of a leaf's value: the value converted to `stored`, its bytes in the
 * other order if `swapped` (of each part of a complex number), and then as one of
 *     bits == 0, bytes == 0   the bytes of the stored value
 *     bits > 0                that many bits of it: base, offset and strides of the row count bits then,
 *                             from the lowest of the first byte on. Never swapped
 *     bytes > 0               byte b of it as the mapping's byte_row[byte_row + b] says. The leaf's own
 *                             row is that of its first byte */
typedef struct ha_coding {
    ha_dtype stored;
    int32_t swapped;
    int32_t bits;
    int32_t exponent, mantissa; /* of a packed float: bits = 1 + exponent + mantissa; else 0 */
    int32_t bytes;
    int64_t byte_row;
} ha_coding;

/* Blobs consist of sections: `bytes` for every `lanes` linear indices, or bytes as such when lanes
 * is 0. A section starts where the section before it in the blob ends, at a multiple of its
 * alignment. So text for devices can find the sections for extents that are not known yet.
 * linearizer < 0: it is tree number -1 - linearizer, of so many bytes for the mapping's extents. */
typedef struct ha_section {
    int32_t blob, linearizer;
    int64_t lanes, bytes, alignment;
    int64_t
        bits; /* > 0, lanes and bytes are 0 then: that many bits for every linear index, rounded up
                      to a multiple of `alignment` bytes together */
    int64_t start; /* in the blob, for the mapping's extents */
} ha_section;

typedef struct ha_blob {
    int64_t bytes;
    int64_t alignment; /* what its address has to be a multiple of */
} ha_blob;

/* A mapping. To be read; what it points at belongs to it. */
typedef struct ha_mapping {
    const ha_record *record; /* has to outlive the mapping */
    const char *text;        /* the layout, as ha_mapping_parse would read it */
    int32_t rank;
    int32_t blobs, linearizers, sections;
    int64_t extent[HA_MAPPING_RANK]; /* 1 behind the rank */
    int64_t rows;                    /* one for each leaf of the record */
    const ha_row *row;
    const ha_linearizer *linearizer;
    const ha_blob *blob;
    const ha_section *section;
    int32_t codings;
    int64_t byte_rows;
    const ha_coding *coding;  /* computed mappings; NULL: none */
    const ha_row *byte_row;   /* of leaves that are stored byte by byte; their `coding` is 0 */
    struct ha_counts *counts; /* of count(…) and heatmap(…): counts.h; NULL: none */
    int32_t trees, branches;
    const ha_tree *tree; /* NULL: none */
    const ha_branch *branch;
    const ha_tree_step *tree_step;
} ha_mapping;

/* ---- layouts by functions -------------------------------------------------------------------- */

typedef enum ha_layout_kind {
    HA_LAYOUT_AOS = 0,
    HA_LAYOUT_SOA,
    HA_LAYOUT_AOSOA,
    HA_LAYOUT_ONE,
    HA_LAYOUT_NULL,
    HA_LAYOUT_SPLIT,
    HA_LAYOUT_PERMUTE,
    HA_LAYOUT_CHANGETYPE,
    HA_LAYOUT_BYTESWAP,
    HA_LAYOUT_BYTESPLIT,
    HA_LAYOUT_BITINT,
    HA_LAYOUT_BITFLOAT,
    HA_LAYOUT_COUNT,
    HA_LAYOUT_HEATMAP,
    HA_LAYOUT_TREE
} ha_layout_kind;

enum { /* flags of a layout; which fit which kind is said above */
       HA_LAYOUT_PACKED = 1,
       HA_LAYOUT_MINALIGN = 2,
       HA_LAYOUT_SINGLE = 4,
       HA_LAYOUT_ALIGNED = 8,
       HA_LAYOUT_ROWS = 16,
       HA_LAYOUT_SEPARATE = 32,
       HA_LAYOUT_FIELDS = 64
};

/* A layout without extents and record: all zeros is aos. Members that its kind has no use for have
 * to be zero. */
typedef struct ha_layout {
    ha_layout_kind kind;
    ha_linear_order order; /* aos, soa, aosoa, one */
    uint32_t flags;
    int64_t lanes;                      /* aosoa: at least 1; heatmap: bytes of a granule, 0: 64 */
    const char *paths;                  /* split: "pos+vel" */
    int32_t dimension[HA_MAPPING_RANK]; /* permute: P0, P1, … */
    const char *changes;                /* changetype: "f64:f32, pos.x:f64"; "": none */
    int32_t bits;                       /* bitint */
    int32_t exponent, mantissa;         /* bitfloat */
    const char *functors;               /* tree: "movedown(0;4), leafonly"; NULL: none */
    const struct ha_layout *first;      /* what is inside: of bitint and bitfloat soa or aos */
    const struct ha_layout *second;     /* split */
} ha_layout;

/* The mapping of a record by a layout for these extents (rank from 1 to HA_MAPPING_RANK, each extent
 * from 0). The result is the caller's, to be freed by ha_mapping_free; it needs `layout` and `extent`
 * no more, `record` as long as it lives. NULL on failure, with why in *error (NULL: nobody wants to
 * know):
 *     HA_ERR_ARGUMENT  the record, the layout, the rank or an extent makes no sense
 *     HA_ERR_MEMORY    there is no memory, or a blob would have more than 2^63 - 1 bytes
 * From any thread. */
HA_API HA_MUST_CHECK ha_mapping *ha_mapping_new(const ha_record *record, const ha_layout *layout,
                                                int rank, const int64_t *extent, ha_error *error);

/* The same by a layout's text. When the text is none, error->code is the position of the character
 * where it stops to be one (from 0), and error->text says what was expected there; for other errors
 * of the text, such as a path without a field, the position is that of the word. */
HA_API HA_MUST_CHECK ha_mapping *ha_mapping_parse(const ha_record *record, const char *text,
                                                  int rank, const int64_t *extent, ha_error *error);

/* Frees what both have made; NULL is nothing to free. Not while another thread uses it. To functions that
 * tell errors NULL in the place of a mapping is one: HA_ERR_ARGUMENT, or -1. */
HA_API void ha_mapping_free(ha_mapping *mapping);

/* ---- addresses ------------------------------------------------------------------------------- */

/* The linear index. Indices are not checked; they have to be inside the extents. */
HA_FN int64_t ha_linear(const ha_linearizer *l, const int64_t *index) {
    int64_t linear = 0;
    if (l->morton == 0) {
        for (int32_t d = 0; d < l->rank; d++) linear += index[d] * l->stride[d];
    } else {
        for (int32_t d = 0; d < l->rank; d++)
            for (int32_t b = 0; index[d] >> b != 0; b++)
                linear |= (index[d] >> b & 1) << (b * l->rank + l->stride[d]);
    }
    return linear;
}

/* Where in its blob a leaf of the record with this linear index lies, in bytes; in bits if its coding
 * has bits. */
HA_FN int64_t ha_row_offset(const ha_row *row, int64_t linear) {
    return row->base + linear / row->lanes * row->block_stride +
           linear % row->lanes * row->lane_stride;
}

/* The same by the indices, also for rows of a tree; `row` is one of the mapping's. */
HA_FN int64_t ha_row_at(const ha_mapping *m, const ha_row *row, const int64_t *index) {
    if (row->linearizer < 0) {
        const ha_branch *b = &m->branch[-1 - row->linearizer];
        return row->base +
               ha_branch_offset_(b, m->tree_step + b->first_step, row->lane_stride, m->rank, index);
    }
    return ha_row_offset(row, ha_linear(&m->linearizer[row->linearizer], index));
}

/* Where in blob m->row[leaf].blob a leaf of the record with this index lies, in bytes; in bits if its
 * coding has bits; its first byte if each is somewhere else. Nothing is checked: leaf and index have
 * to be right, and the blob one that exists. */
HA_FN int64_t ha_mapping_offset(const ha_mapping *m, int64_t leaf, const int64_t *index) {
    return ha_row_at(m, &m->row[leaf], index);
}

/* How the values of this row are stored; NULL: as they are. */
HA_FN const ha_coding *ha_row_coding(const ha_mapping *m, const ha_row *row) {
    return row->coding > 0 ? &m->coding[row->coding - 1] : HA_NULL_;
}

/* Are the bytes of such a value in several blobs? */
HA_FN int ha_coding_is_scattered_(const ha_mapping *m, const ha_coding *coding) {
    for (int64_t b = 1; coding && b < coding->bytes; b++)
        if (m->byte_row[coding->byte_row + b].blob != m->byte_row[coding->byte_row].blob) return 1;
    return 0;
}

/* A run of values of one leaf at equal distances. */
typedef struct ha_run_of_values {
    int32_t blob;      /* < 0: not stored */
    int32_t dimension; /* the index that goes on from value to value */
    int64_t
        offset; /* of the first value in the blob, in bytes, or bits if the leaf's coding has these */
    int64_t stride; /* from value to value, in the same */
    int64_t count;  /* at least 1 */
} ha_run_of_values;

/* The longest run that begins at `index` and goes along the fastest dimension of the leaf's
 * linearizer (of a tree: the one farthest from its root), at most to the end of the extent. Of a
 * leaf that is stored byte by byte it is one of its first bytes. HA_ERR_ARGUMENT, *run untouched:
 * there is no such leaf or index. */
HA_API HA_MUST_CHECK ha_status ha_mapping_run_of_values(const ha_mapping *mapping, int64_t leaf,
                                                        const int64_t *index,
                                                        ha_run_of_values *run);

/* HA_OK when every value of every leaf that is stored lies inside its blob and no two of them have a
 * byte in common. Also for tables that were written by hand. For layouts as above it says what is
 * known: only "one", for more than one record, has values that share their bytes. Else, with why in
 * *error:
 *     HA_ERR_ARGUMENT  the table makes no sense, a value lies outside, or two of them overlap: which
 *                      (where there are packed bits, all is counted in bits: then also when a blob of
 *                      more than 2^60 bytes makes that overflow)
 *     HA_ERR_MEMORY    there is no memory for looking
 * Takes time by the number of rows, and by that of values where rows of different strides mingle. */
HA_API HA_MUST_CHECK ha_status ha_mapping_check(const ha_mapping *mapping, ha_error *error);

/* ---- mappings as text ------------------------------------------------------------------------ */

/* These write text with a zero behind it, as snprintf does: they give the length of the whole text, of
 * which at most size - 1 bytes are written. A buffer of size 0 may be NULL. */

/* Functions for devices, as text that is C, OpenCL C and CUDA (also for NVRTC) at once. Whatever is
 * known but the extents is a constant in it; these are arguments, in units of records. For each leaf
 * (here pos.x of rank 2), with `name` before it:
 *     #define name_pos_x_blob 0
 *     long name_pos_x_offset(long i0, long i1, long n0, long n1)       bytes in that blob
 *     double name_pos_x_get(const unsigned char *blob, i0, i1, n0, n1)
 *     void name_pos_x_set(unsigned char *blob, i0, i1, n0, n1, double value)
 * In OpenCL blob points to name_GLOBAL memory, which is __global unless the program defines that macro before
 * the text. f16 and bf16 are the bits as unsigned short, bool is an unsigned char, complex numbers are the
 * structs ha_c64 and ha_c128 (if the program needs layout/detail/number.h, too, that comes first). Subscripts in names of leaves become _0_1. A leaf that is not stored gives 0, and
 * takes what it is given. Computed layouts give and take the values that ha_mapped_get and ha_mapped_set
 * (mapped.h) would, bit for bit, on any device. Of values of few bits the offset is in bits, and _set also
 * writes what it has read of the bytes that it shares with neighbours: no two threads at once. Of what is
 * stored byte by byte,
 *     #define name_pos_x_blob_3 7
 *     long name_pos_x_offset_3(long i0, long i1, long n0, long n1)
 * are where byte 3 of what is stored is, and where that is not one blob for all of them, _get and _set have
 * a pointer for each, in order, in place of `blob`.
 * name_blob_bytes_B(long n0, long n1) is how long blob number B is; name_BLOB_BYTES_B is that for the
 * mapping's own extents, as a constant. So records may lie in what a block or work group shares, with
 * a text for a mapping of as many as it shares:
 *     #define tile_GLOBAL __local                               (OpenCL, before the text; not in CUDA)
 *     __local unsigned char tile[tile_BLOB_BYTES_0] __attribute__((aligned(16)));     or __shared__
 * -1: `name` is no name in C, or two leaves have the same name then, or one of more than 511 letters, or
 * the mapping was not made by ha_mapping_new or ha_mapping_parse; or there is no memory for the trees.
 * Values in trees are read and written byte by byte, as extents decide where they lie. */
HA_API int64_t ha_mapping_device_text(const ha_mapping *mapping, const char *name, char *buffer,
                                      size_t size);

/* The same for kernels; first_leaf: the number of the field's first one. */
typedef int ha_field_choice_(const void *user, int64_t field, int64_t first_leaf);
HA_API int64_t ha_mapping_device_text_(const ha_mapping *mapping, const char *name,
                                       ha_field_choice_ *is_regular, const void *user, char *buffer,
                                       size_t size);

/* One JSON object: {"mapping": …, "extents": […], "blobs": [bytes, …], "fields": [{"name": "pos.x",
 * "type": "f64", "blob": 0, "offset": 56}, …]}: the offsets for the record with this index (NULL:
 * the first). "blob" and "offset" are null where nothing is stored. Of few bits, "bit_offset"
 * stands in place of "offset"; with them "bits", and of floats "exponent" and "mantissa". Of what
 * is stored byte by byte, "blob" and "offset" are null, and "bytes": [{"blob": 0, "offset": 7}, …]
 * follows. What is stored as another type has "stored": "f32", in the other byte order "swapped":
 * true. -1: there is no such index. */
HA_API int64_t ha_mapping_json(const ha_mapping *mapping, const int64_t *index, char *buffer,
                               size_t size);

/* A tree of the mapping, from number 0 on, as text: the number of each node with its name behind
 * it, and its children in brackets, "16[4[4 pos[1 x, 1 y, 1 z], 4 mass]]". Dimensions and what a
 * subscript names have no name. -1: there is no such tree, or no memory. */
HA_API int64_t ha_mapping_tree_text(const ha_mapping *mapping, int32_t number, char *buffer,
                                    size_t size);

/* A picture, as SVG: the lines of memory of 64 bytes in which the first records lie, each value a
 * box with its name and index, its field told by colour and by hatching, and addresses at the left.
 * Dashed: what no value uses; "…": there is more than is shown. -1: there is no memory. */
HA_API int64_t ha_mapping_svg(const ha_mapping *mapping, char *buffer, size_t size);

#endif
