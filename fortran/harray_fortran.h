/* What harray.f90 calls, over the public headers: a Fortran program that has arrays of harray is linked with
 * harray_fortran.c. A C function that is called from Fortran with a component `c` of an array gets a
 * ha_fortran_array by address; of it, `x` is the array or view, whose lowest indices are Fortran's:
 *
 *     int smooth(ha_context *at, const ha_fortran_array *u) {       // call: s = smooth(gpu%c, u%c)
 *         const array_double_2 x = array_double_2_from_darray(u->x);
 *         …
 *     }
 *
 * Numbers of dimensions are Fortran's, 1 … 7, of extents int64_t[rank]. All functions return a status; what
 * was wrong is then the text of ha_fortran_text() and no longer in ha_take_error(). */
#ifndef HARRAY_FORTRAN_H
#define HARRAY_FORTRAN_H

#include "harray.h"

enum { HA_FORTRAN_MOST_RANK = 7 };

/* All zero: no array. The module has the same as so many numbers of 64 bits. */
typedef struct ha_fortran_array {
    darray x;
    ha_access access;                     /* the one that is open by this variable */
    int64_t ghosts[HA_FORTRAN_MOST_RANK]; /* at each end of each dimension; 0 of views */
    int64_t is_view;                      /* freeing it frees nothing */
} ha_fortran_array;

/* Where the elements of an open access are, for a pointer of Fortran: it points to the first extent[d] of
 * room[d] in each dimension, from lower[d] on. */
typedef struct ha_fortran_pointer {
    void *data;
    int64_t room[HA_FORTRAN_MOST_RANK], extent[HA_FORTRAN_MOST_RANK], lower[HA_FORTRAN_MOST_RANK];
} ha_fortran_pointer;

#ifdef __cplusplus
extern "C" {
#endif

/* The text of the last error of this thread: what was wrong, and with which array. */
const char *ha_fortran_text(void);

/* ---- contexts: NULL and a text when there is none ------------------------------------------------ */

ha_context *ha_fortran_host(void);
ha_context *ha_fortran_best(void);
ha_context *ha_fortran_find(const char *name);
int ha_fortran_finish(ha_context *context);
int ha_fortran_shutdown(void);

/* ---- making and freeing ---------------------------------------------------------------------------- */

/* Of `extent` elements from `lower` on, and so many ghost cells at both ends of each dimension. */
int ha_fortran_make(ha_fortran_array *a, int type, int rank, const int64_t *extent,
                    const int64_t *lower, const int64_t *ghosts, ha_context *at, const char *name);

/* Memory of the caller's, without gaps; gaps: it has some, which is refused. */
int ha_fortran_wrap(ha_fortran_array *a, int type, int rank, const int64_t *extent,
                    const int64_t *lower, void *data, int gaps, const char *name);
int ha_fortran_sync(ha_fortran_array *a);
int ha_fortran_free(ha_fortran_array *a);

/* ---- views ------------------------------------------------------------------------------------------- */

/* Indices stay what they are in *a. `low` and `high` are the first and the last one; rank and dimension are compared
 * with the array's. *view must be all zero, and is that when it is refused. */

int ha_fortran_part(const ha_fortran_array *a, int rank, const int64_t *low, const int64_t *high,
                    ha_fortran_array *view);
int ha_fortran_interior(const ha_fortran_array *a, ha_fortran_array *view);
int ha_fortran_fix(const ha_fortran_array *a, int dimension, int64_t index, ha_fortran_array *view);

/* *to becomes *from, with nothing open. Refused while something is open by *to. */
int ha_fortran_assign(ha_fortran_array *to, const ha_fortran_array *from);

/* ---- accesses ----------------------------------------------------------------------------------------- */

/* how: of enum ha_how. ha_fortran_point: on the host, for a pointer of this type and rank. */
int ha_fortran_open(ha_fortran_array *a, int how, ha_context *at, void **data);
int ha_fortran_point(ha_fortran_array *a, int how, int type, int rank, ha_fortran_pointer *p);
int ha_fortran_close(ha_fortran_array *a);

/* ---- contents and questions --------------------------------------------------------------------- */

int ha_fortran_fill(const ha_fortran_array *a, double value, ha_context *at);
int ha_fortran_copy(const ha_fortran_array *to, const ha_fortran_array *from, ha_context *at);
int ha_fortran_rank(const ha_fortran_array *a);
int ha_fortran_type(const ha_fortran_array *a);
void ha_fortran_bounds(const ha_fortran_array *a, int64_t *lower, int64_t *upper);
int ha_fortran_valid(const ha_fortran_array *a, const ha_context *at);

/* "u: real(real64) (0:5, 0:4)"; good until this thread's next call of it */
const char *ha_fortran_describe(const ha_fortran_array *a);

#ifdef __cplusplus
}
#endif
#endif
