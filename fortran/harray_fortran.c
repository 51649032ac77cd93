/* The C side of harray.f90. With HARRAY_IMPLEMENTATION it is the program's one file that has the
 * implementation, too. */
#include "harray_fortran.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(ha_fortran_array) == 42 * sizeof(int64_t), "module harray: type ha_handle");
_Static_assert(HA_DTYPE_int32_t == 4 && HA_DTYPE_int64_t == 5 && HA_DTYPE_float == 12 &&
                   HA_DTYPE_double == 13 && HA_DTYPE_c64 == 14 && HA_DTYPE_c128 == 15,
               "module harray: type ha_kind");
_Static_assert(HA_READ == 0 && HA_WRITE == 1 && HA_OVERWRITE == 2, "module harray: how to open");

/* ---- errors ---------------------------------------------------------------------------------- */

static _Thread_local char last_text[500];

const char *ha_fortran_text(void) { return last_text; }

/* Takes the error of a call that failed: its status. */
static int failed(void) {
    const ha_error error = ha_take_error();
    snprintf(last_text, sizeof last_text, "%s: %s", ha_status_name(error.status), error.text);
    return (int)error.status;
}

static int told(ha_status status) { return status == HA_OK ? HA_OK : failed(); }

/* Refuses what the module asks for itself; of which array, if it is known. */
static int refused(ha_status status, const ha_fortran_array *a, const char *why) {
    char text[200];
    snprintf(text, sizeof text, "%s", a ? ha_fortran_describe(a) : "");
    snprintf(last_text, sizeof last_text, "%s: %s%s%s", ha_status_name(status), text,
             *text && *why ? ": " : "", why);
    return (int)status;
}

/* ---- texts ------------------------------------------------------------------------------------- */

static const char *kind_name(int type) {
    switch (type) {
    case HA_DTYPE_int32_t:
        return "integer(int32)";
    case HA_DTYPE_int64_t:
        return "integer(int64)";
    case HA_DTYPE_float:
        return "real(real32)";
    case HA_DTYPE_double:
        return "real(real64)";
    case HA_DTYPE_c64:
        return "complex(real32)";
    case HA_DTYPE_c128:
        return "complex(real64)";
    default:
        return "elements that Fortran has no kind for";
    }
}

/* Writes behind what is in the text, as far as there is room. */
static void append(char *text, size_t bytes, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s", more);
}

static void append_bounds(char *text, size_t bytes, const ha_fortran_array *a) {
    int64_t low[HA_FORTRAN_MOST_RANK], high[HA_FORTRAN_MOST_RANK];
    ha_fortran_bounds(a, low, high);
    for (int d = 0; d < ha_fortran_rank(a); d++) {
        char one[64];
        snprintf(one, sizeof one, "%s%lld:%lld", d ? ", " : " (", (long long)low[d],
                 (long long)high[d]);
        append(text, bytes, one);
    }
    append(text, bytes, ")");
}

const char *ha_fortran_describe(const ha_fortran_array *a) {
    static _Thread_local char text[200];
    if (!a->x.array) return "no array was made, or it was freed";
    const char *name = ha_array_name(a->x.array);
    snprintf(text, sizeof text, "%s: %s", *name ? name : "unnamed array",
             kind_name((int)a->x.type));
    append_bounds(text, sizeof text, a);
    return text;
}

/* ---- contexts ---------------------------------------------------------------------------------- */

static ha_context *found(ha_context *context) {
    if (!context) failed();
    return context;
}

ha_context *ha_fortran_host(void) { return ha_host(); }
ha_context *ha_fortran_best(void) { return found(ha_context_best()); }
ha_context *ha_fortran_find(const char *name) { return found(ha_context_find(name)); }
int ha_fortran_finish(ha_context *context) { return told(ha_context_finish(context)); }
int ha_fortran_shutdown(void) { return told(ha_shutdown()); }

/* ---- making and freeing ---------------------------------------------------------------------------- */

/* The variable is to get an array: it must have none, or that would never be freed. */
static int is_taken(const ha_fortran_array *a) {
    return a->x.array
               ? refused(HA_ERR_STATE, a, "this variable has an array already: free it first")
               : HA_OK;
}

/* The module gives -1 for a rank where not all numbers were given for as many dimensions. */
static int wrong_rank(int rank) {
    if (rank == -1)
        return refused(HA_ERR_ARGUMENT, NULL,
                       "ghosts and lower need as many numbers as there are dimensions");
    if (rank < 1 || rank > HA_FORTRAN_MOST_RANK)
        return refused(HA_ERR_ARGUMENT, NULL, "an array has 1 to 7 dimensions");
    return HA_OK;
}

static int wrong_shape(int rank, const int64_t *extent, const int64_t *ghosts) {
    char text[120];
    if (wrong_rank(rank)) return HA_ERR_ARGUMENT;
    for (int d = 0; d < rank; d++) {
        if (extent[d] >= 0 && ghosts[d] >= 0) continue;
        snprintf(text, sizeof text, "dimension %d has %lld elements and %lld ghost cells", d + 1,
                 (long long)extent[d], (long long)ghosts[d]);
        return refused(HA_ERR_ARGUMENT, NULL, text);
    }
    return HA_OK;
}

/* Gives a new array its name and its lowest indices; one that cannot have these is freed. */
static int finish_making(ha_fortran_array *a, darray x, const int64_t *lower, const int64_t *ghosts,
                         const char *name) {
    int64_t origin[HA_FORTRAN_MOST_RANK];
    if (!x.array) return failed();
    ha_fortran_array made = {.x = x};
    for (int d = 0; d < x.rank; d++) {
        if (__builtin_sub_overflow(lower[d], ghosts[d], &origin[d])) origin[d] = INT64_MIN;
        made.ghosts[d] = ghosts[d];
    }
    made.x = darray_with_origin_(x, origin, NULL);
    if (!made.x.array) {
        const int status = failed();
        HA_IGNORE(darray_free(&x));
        return status;
    }
    ha_array_set_name(x.array, name);
    *a = made;
    return HA_OK;
}

int ha_fortran_make(ha_fortran_array *a, int type, int rank, const int64_t *extent,
                    const int64_t *lower, const int64_t *ghosts, ha_context *at, const char *name) {
    ha_shape shape = {.rank = rank, .order = HA_COLUMN_MAJOR};
    if (is_taken(a)) return HA_ERR_STATE;
    if (wrong_shape(rank, extent, ghosts)) return HA_ERR_ARGUMENT;
    for (int d = 0; d < rank; d++) {
        shape.extent[d] = extent[d];
        shape.ghost_low[d] = shape.ghost_high[d] = ghosts[d];
    }
    return finish_making(a, darray_make((ha_dtype)type, &shape, at), lower, ghosts, name);
}

int ha_fortran_wrap(ha_fortran_array *a, int type, int rank, const int64_t *extent,
                    const int64_t *lower, void *data, int gaps, const char *name) {
    static const int64_t no_ghosts[HA_FORTRAN_MOST_RANK];
    int64_t stride[HA_FORTRAN_MOST_RANK];
    if (is_taken(a)) return HA_ERR_STATE;
    if (wrong_rank(rank)) return HA_ERR_ARGUMENT;
    if (gaps)
        return refused(HA_ERR_ARGUMENT, NULL,
                       "what is wrapped is a section with gaps: wrap all of it, and use part");
    const ha_status status = ha_extents_strides(rank, extent, HA_COLUMN_MAJOR, stride);
    if (status) return told(status);
    const darray x = darray_wrap((ha_dtype)type, rank, extent, stride, data, ha_host(), 0);
    return finish_making(a, x, lower, no_ghosts, name);
}

static int is_none(const ha_fortran_array *a) {
    return a->x.array ? HA_OK : refused(HA_ERR_STATE, a, "");
}

int ha_fortran_sync(ha_fortran_array *a) {
    return is_none(a) ? HA_ERR_STATE : told(ha_sync(a->x.array));
}

/* A view has nothing to be freed, and an access that is open by it would be forgotten. */
static int free_view(ha_fortran_array *a) {
    if (a->access.array)
        return refused(HA_ERR_CONFLICT, a, "it is open by this variable: close it first");
    *a = (ha_fortran_array){.is_view = 0};
    return HA_OK;
}

int ha_fortran_free(ha_fortran_array *a) {
    if (!a->x.array || a->is_view) return free_view(a);
    const ha_status status = darray_free(&a->x);
    if (status) return told(status);
    *a = (ha_fortran_array){.is_view = 0};
    return HA_OK;
}

/* ---- views ------------------------------------------------------------------------------------------- */

static int view_of(darray x, const int64_t *origin, ha_fortran_array *view) {
    if (x.array) x = darray_with_origin_(x, origin, NULL);
    if (!x.array) return failed();
    *view = (ha_fortran_array){.x = x, .is_view = 1};
    return HA_OK;
}

static int is_outside(const ha_fortran_array *a, int dimension, int64_t low, int64_t high) {
    int64_t lower[HA_FORTRAN_MOST_RANK], upper[HA_FORTRAN_MOST_RANK];
    char text[120];
    ha_fortran_bounds(a, lower, upper);
    if (low >= lower[dimension] && high <= upper[dimension] && high >= low - 1) return HA_OK;
    snprintf(text, sizeof text, "dimension %d has no part %lld:%lld", dimension + 1, (long long)low,
             (long long)high);
    return refused(HA_ERR_ARGUMENT, a, text);
}

static int is_of_other_rank(const ha_fortran_array *a, int rank) {
    char text[80];
    if (is_none(a)) return HA_ERR_STATE;
    if (a->x.rank == rank) return HA_OK;
    snprintf(text, sizeof text, "the bounds of a part are given for %d dimensions", rank);
    return refused(HA_ERR_ARGUMENT, a, text);
}

int ha_fortran_part(const ha_fortran_array *a, int rank, const int64_t *low, const int64_t *high,
                    ha_fortran_array *view) {
    int64_t stop[HA_FORTRAN_MOST_RANK];
    const int status = is_of_other_rank(a, rank);
    if (status) return status;
    for (int d = 0; d < rank; d++) {
        if (is_outside(a, d, low[d], high[d])) return HA_ERR_ARGUMENT;
        stop[d] = high[d] + 1;
    }
    return view_of(darray_part_(a->x, low, stop, NULL), low, view);
}

int ha_fortran_interior(const ha_fortran_array *a, ha_fortran_array *view) {
    int64_t low[HA_FORTRAN_MOST_RANK], high[HA_FORTRAN_MOST_RANK];
    if (is_none(a)) return HA_ERR_STATE;
    ha_fortran_bounds(a, low, high);
    for (int d = 0; d < a->x.rank; d++) {
        low[d] += a->ghosts[d];
        high[d] -= a->ghosts[d];
    }
    return ha_fortran_part(a, a->x.rank, low, high, view);
}

int ha_fortran_fix(const ha_fortran_array *a, int dimension, int64_t index,
                   ha_fortran_array *view) {
    int64_t origin[HA_FORTRAN_MOST_RANK];
    if (is_none(a)) return HA_ERR_STATE;
    if (a->x.rank < 2 || dimension < 1 || dimension > a->x.rank)
        return refused(HA_ERR_ARGUMENT, a, "an index of a dimension that it cannot do without");
    if (is_outside(a, dimension - 1, index, index)) return HA_ERR_ARGUMENT;
    for (int d = 0, n = 0; d < a->x.rank; d++)
        if (d != dimension - 1) origin[n++] = a->x.origin[d];
    return view_of(darray_fix_(a->x, dimension - 1, index, NULL), origin, view);
}

int ha_fortran_assign(ha_fortran_array *to, const ha_fortran_array *from) {
    if (to->access.array)
        return refused(HA_ERR_STATE, to, "it is open by the variable that is assigned to");
    const ha_fortran_array copy = *from;
    *to = copy;
    to->access = (ha_access){.data = NULL};
    return HA_OK;
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

int ha_fortran_open(ha_fortran_array *a, int how, ha_context *at, void **data) {
    static const char *const sites[] = {"read in Fortran", "write in Fortran",
                                        "overwrite in Fortran"};
    ha_status status = HA_OK;
    *data = NULL;
    if (is_none(a)) return HA_ERR_STATE;
    if (a->access.array)
        return refused(HA_ERR_STATE, a, "it is open by this variable already: close it first");
    HA_FROM(sites[how]) status = ha_open_view(&a->access, a->x, at, (unsigned)how);
    *data = a->access.data;
    return told(status);
}

static int is_of_other_kind(const ha_fortran_array *a, int type, int rank) {
    char text[120];
    if (is_none(a)) return HA_ERR_STATE;
    if ((int)a->x.type == type && a->x.rank == rank) return HA_OK;
    snprintf(text, sizeof text, "the pointer is of %s, rank %d", kind_name(type), rank);
    return refused(HA_ERR_ARGUMENT, a, text);
}

/* Of which array without gaps, of extents room[d], is a view the first extent[d] elements of each dimension? Each
 * stride is a multiple of the one before. Dimensions of one element may have any stride. 0: of none. */
static int find_room(const darray *x, int64_t *room) {
    int last = 0; /* the last dimension that has more than one element, or the first dimension */
    if (x->extent[0] > 1 && x->stride[0] != 1) return 0;
    int64_t stride = 1;
    for (int d = 1; d < x->rank; d++) {
        room[d] = 1;
        if (x->extent[d] < 2) continue;
        room[last] = x->stride[d] / stride;
        if (x->stride[d] % stride || room[last] < x->extent[last]) return 0;
        last = d;
        stride = x->stride[d];
    }
    room[last] = x->extent[last];
    return 1;
}

/* Without elements there is nothing to find, and no address: a pointer of Fortran has one all the same. */
static int find_place(const ha_fortran_array *a, ha_fortran_pointer *p) {
    static int64_t nothing[2];
    p->data = nothing;
    for (int d = 0; d < a->x.rank; d++) {
        p->room[d] = p->extent[d] = a->x.extent[d];
        p->lower[d] = a->x.origin[d];
    }
    return !darray_size(a->x) || find_room(&a->x, p->room);
}

int ha_fortran_point(ha_fortran_array *a, int how, int type, int rank, ha_fortran_pointer *p) {
    void *data;
    int status = is_of_other_kind(a, type, rank);
    if (status) return status;
    if (!find_place(a, p))
        return refused(HA_ERR_UNSUPPORTED, a,
                       "no pointer of Fortran has its strides: copy it first");
    status = ha_fortran_open(a, how, ha_host(), &data);
    if (data) p->data = data;
    return status;
}

int ha_fortran_close(ha_fortran_array *a) {
    if (is_none(a)) return HA_ERR_STATE;
    if (!a->access.array) return refused(HA_ERR_STATE, a, "nothing is open by this variable");
    return told(ha_close(&a->access));
}

/* ---- contents and questions --------------------------------------------------------------------- */

int ha_fortran_fill(const ha_fortran_array *a, double value, ha_context *at) {
    return is_none(a) ? HA_ERR_STATE : told(darray_fill(a->x, ha_dvalue_of_double(value), at));
}

int ha_fortran_copy(const ha_fortran_array *to, const ha_fortran_array *from, ha_context *at) {
    if (is_none(to) || is_none(from)) return HA_ERR_STATE;
    return told(darray_copy(to->x, from->x, at));
}

int ha_fortran_rank(const ha_fortran_array *a) { return a->x.array ? a->x.rank : 0; }
int ha_fortran_type(const ha_fortran_array *a) {
    return a->x.array ? (int)a->x.type : HA_DTYPE_NONE;
}

void ha_fortran_bounds(const ha_fortran_array *a, int64_t *lower, int64_t *upper) {
    for (int d = 0; d < ha_fortran_rank(a); d++) {
        lower[d] = a->x.origin[d];
        upper[d] = a->x.origin[d] + a->x.extent[d] - 1;
    }
}

int ha_fortran_valid(const ha_fortran_array *a, const ha_context *at) {
    return a->x.array && ha_array_valid(a->x.array, at, 0, HA_END);
}
