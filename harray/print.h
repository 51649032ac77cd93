/* Arrays of n dimensions as text.
 *
 *     HA_CHECK(darray_fprint(a, stdout));
 *
 *     [[0   1.5 2 ]
 *      [3 -10   4 ]]
 *
 * as NumPy lays arrays out, rows in brackets, but with all the digits that tell a number from its
 * neighbours (ha_dvalue_print), and without breaking lines. Of a dimension with more than 10 indices
 * the first and last 5 are shown, and "..." between them; of dimensions before the last two only the
 * first and the last one, as far as it would be more than 1000 elements otherwise. Where the extents
 * cannot be seen, because of that or because there is no element, they stand on a line above:
 *
 *     double 2 [1000, 1000]
 *
 * Only what is shown moves to the host, each of its parts (up to four of a matrix) by an access of
 * its own: so printing waits as a read does, is refused as a read is (HA_ERR_CONFLICT, also inside
 * a write access of the same thread; HA_ERR_STATE, elements that were never written), and what
 * others write meanwhile may be seen in one part and not in another.
 *
 * Into a buffer: as snprintf, at most `bytes` with the final zero, and returns the length without
 * the buffer's end. */
#ifndef HARRAY_PRINT_H
#define HARRAY_PRINT_H

#include <stdio.h>

#include "darray.h"

/* The elements. Each row ends with an end of line. 0, and "" in the buffer, when they cannot be
 * had; also HA_ERR_ARGUMENT for no array, HA_ERR_UNSUPPORTED for elements of the user's own type,
 * HA_ERR_MEMORY. */
HA_API size_t darray_print(darray x, char *text, size_t bytes);

/* The same into a file. Also HA_ERR_BACKEND when it cannot be written. */
HA_API HA_MUST_CHECK ha_status darray_fprint(darray x, FILE *file);

/* "double 3": the type and the rank. */
HA_API size_t darray_print_type(darray x, char *text, size_t bytes);

/* One line about it: name, type, rank, extents, strides, order, origin and offset unless they are
 * 0, and the contexts where all of it is valid (with what is between its elements, if it has gaps).
 *     'u': double 2 [3, 4], strides [4, 1], row-major, valid on host, sim:0 */
HA_API size_t darray_describe(darray x, char *text, size_t bytes);

#endif
