/* NumPy's .npy files, versions 1 to 3: as arrays of n dimensions, and their headers alone.
 *
 *     HA_CHECK(darray_save_npy(x, "x.npy"));            // numpy.load("x.npy") is the same array
 *     darray y = darray_load_npy("y.npy", device);      // what numpy.save has written; an owner
 *     darray z = darray_map_npy("z.npy", HA_MAP_CONST); // the file is the memory
 *
 * Headers in a buffer of the caller's: what stands in them, and writing one. Reading the file, and
 * its elements, is then left to the caller.
 *
 *     ha_npy_header h;
 *     HA_CHECK(ha_npy_parse(bytes, count, &h));   // the whole file, or its first part
 *     const void *elements = bytes + h.bytes;     // h.rank, h.extent, h.type, h.order; h.swapped?
 *
 *     ha_npy_header out = {.type = HA_DTYPE_float, .rank = 2, .extent = {3, 4}};
 *     char text[HA_NPY_MOST_BYTES];
 *     HA_CHECK(ha_npy_print(&out, text, sizeof text));
 *     fwrite(text, 1, out.bytes, file);           // then the elements
 *
 * Nothing is taken on trust: every byte is looked at, none behind the count, and what NumPy would
 * not write in its place is refused. */
#ifndef HARRAY_NPY_H
#define HARRAY_NPY_H

#include <stdio.h>

#include "darray.h"

/* ---- arrays --------------------------------------------------------------------------------- */

/* Writes an array, wherever it is. Row-major, or fortran_order where the elements of a view follow
 * each other rather in that order; one without gaps is written as it lies, another one row by row.
 * The file is there when it is complete, and replaces an older one then (behind a link, what it
 * points to, which need not be there yet): a failure leaves the older one, and no part of a new
 * one. What is no ordinary file is written directly.
 * Opens a read meanwhile: its conflicts and errors apply. HA_ERR_ARGUMENT: no array, the file cannot
 * be made; HA_ERR_BACKEND: it could not be written; HA_ERR_UNSUPPORTED: bfloat16 and the user's own
 * types, which NumPy does not have. */
HA_API HA_MUST_CHECK ha_status darray_save_npy(darray x, const char *path);

/* The same into an open file, where it is: several arrays may follow each other. */
HA_API HA_MUST_CHECK ha_status darray_write_npy(darray x, FILE *file);

/* A new array with what a file holds, in the order in which it is there; the caller owns it.
 * Numbers with their bytes in the other order are converted, and what is true in bool becomes 1.
 * `context`: where it is to be; the values are on their way there. HA_ERR_NOT_FOUND: the file
 * cannot be opened; HA_ERR_BACKEND: not read; as ha_npy_parse and darray_new; HA_ERR_ARGUMENT, too,
 * when elements are missing, or something stands behind the last one. */
HA_API darray darray_load_npy(const char *path, ha_context *context);

/* The same from an open file, where it is; it is then behind the last element, and what stands there
 * does not matter. */
HA_API darray darray_read_npy(FILE *file, ha_context *context);

enum ha_map_flags {
    HA_MAP_CONST = 0,        /* what would write the array is refused */
    HA_MAP_COPY_ON_WRITE = 1 /* it may be written; the file stays as it is */
};

/* A file as the memory of an array (mmap): nothing is read before it is used, and what several
 * processes use is in memory once. Released with the last owner. Nobody may make the file shorter
 * meanwhile. Errors as darray_load_npy; HA_ERR_UNSUPPORTED where the file's bytes are not what they
 * have to be in memory (the other order of bytes, an offset that is not aligned), and for what is no
 * ordinary file: load it. Nobody looks whether the bytes of bool are all 0 or 1, as C needs them. */
HA_API darray darray_map_npy(const char *path, unsigned flags);

/* ---- headers -------------------------------------------------------------------------------- */

enum {
    HA_NPY_MOST_BYTES = 256,     /* of what ha_npy_print writes */
    HA_NPY_MOST_PARSED = 1 << 16 /* longer headers, which only records have, are refused */
};

typedef struct ha_npy_header {
    ha_dtype type;
    int swapped;    /* the bytes of each number are in the other order than this machine's */
    ha_order order; /* in which the elements follow each other, without gaps */
    int rank;
    int64_t extent[HA_MOST_RANK]; /* 0 behind the rank */
    size_t bytes;                 /* of the header: where the elements begin */
} ha_npy_header;

/* How long the header is that begins with these bytes: 12 of them suffice. HA_ERR_ARGUMENT for too
 * few, and what is no .npy file; HA_ERR_UNSUPPORTED for other versions and headers longer than
 * HA_NPY_MOST_PARSED. */
HA_API HA_MUST_CHECK ha_status ha_npy_measure(const void *bytes, size_t count, size_t *length);

/* The header in the first of these bytes. Also HA_ERR_ARGUMENT when the header does not end among
 * them or is not well-formed; HA_ERR_UNSUPPORTED for records, objects, texts, dates, numbers that
 * ha_dtype does not have, and more than HA_MOST_RANK dimensions; HA_ERR_MEMORY when the bytes of
 * the elements do not fit 63 bits. *header is then untouched. */
HA_API HA_MUST_CHECK ha_status ha_npy_parse(const void *bytes, size_t count, ha_npy_header *header);

/* Writes a header of version 1, of a length that is a multiple of 64, and puts that into
 * header->bytes. HA_ERR_ARGUMENT: it does not fit `capacity`, or type, rank, order or an extent
 * make no sense; HA_ERR_UNSUPPORTED: bfloat16, which NumPy does not have; HA_ERR_MEMORY as above.
 * */
HA_API HA_MUST_CHECK ha_status ha_npy_print(ha_npy_header *header, void *bytes, size_t capacity);

#endif
