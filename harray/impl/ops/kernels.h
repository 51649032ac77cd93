/* Operations as kernels: one for each type, rank and kind of arguments, made when it is first asked for, and kept until
 * ha_shutdown. */
#ifndef HARRAY_IMPL_OPS_KERNELS_H
#define HARRAY_IMPL_OPS_KERNELS_H

#include "boxes.h"
#include "trees.h"

enum { HA_OP_PARAMETERS = 12, HA_OP_BUCKETS = 64, HA_OP_TEXT = 2048, HA_OP_NAME = 64 };

typedef struct ha_op_kernel {
    struct ha_op_kernel *next; /* in its bucket */
    ha_op op;
    ha_kernel_parameter_ parameter[HA_OP_PARAMETERS];
    char name[HA_OP_NAME], type[HA_OP_NAME], text[HA_OP_TEXT];
    char other[HA_OP_NAME]; /* the type of a mask, or of the result, where that is another one */
} ha_op_kernel;

HA_STATE_ struct {
    pthread_mutex_t lock; /* to add one; they are found without it */
    ha_op_kernel *bucket[HA_OP_BUCKETS];
    void (*others_end)(void); /* gives back those over records; NULL: there are none */
} ha_op_kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Why a call that has just told its error gave nothing; the kept error may be an older one. */
HA_IN_ ha_status ha_status_of_nothing(void) {
    return ha_latest_status ? ha_latest_status : HA_ERR_MEMORY;
}

/* ---- operations that are made of others ---------------------------------------------------------- */

/* The error of an operation that is a part of another one is told as that one's, unless an older one is kept. */
HA_IN_ ha_status ha_op_told(ha_status s, int is_kept, const char *operation) {
    if (s && !is_kept) ha_first_error.operation = operation;
    return s;
}

/* An array with the extents of another one. */
HA_IN_ ha_status ha_op_new_array(darray *x, ha_dtype type, const darray *like,
                                 ha_context *context) {
    *x = darray_new(type, like->rank, like->extent, context);
    if (x->array) return HA_OK;
    return ha_status_of_nothing();
}

/* Copies from[0] to x and from[1] to y: both are written, or none. */
static ha_status ha_op_copy_both(darray x, darray y, const darray *from, ha_context *context) {
    memset(x.origin, 0, sizeof x.origin);
    memset(y.origin, 0, sizeof y.origin);
    const ha_copy_pair pairs[] = {{x, from[0], context}, {y, from[1], context}};
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 2);
    if (!plan) return ha_status_of_nothing();
    const ha_status s = ha_copy_plan_run(plan);
    ha_copy_plan_free(plan);
    return s;
}

/* ---- what it is given ---------------------------------------------------------------------------- */

HA_IN_ ha_kernel_parameter_ *ha_op_add_parameter(ha_op_kernel *k, ha_kernel_mode_ mode,
                                                 const char *name, const char *type) {
    ha_kernel_parameter_ *p = &k->parameter[k->op.kernel.parameters++];
    *p = (ha_kernel_parameter_){.mode = mode, .type = type, .name = name, .site = name};
    return p;
}

/* A copy is y = x; what is compared are the last two. */
static const char *const ha_op_pair_names[] = {"y", "x", "y"};

/* As in ops.h: z of x and y, y of x, or x alone; z, x, … of kernels that are not element by element. */
HA_IN_ const char *ha_op_array_name(const ha_op_key *key, int n) {
    static const char *const names[][HA_OP_ARRAYS] = {{"x"}, {"y", "x"}, {"z", "x", "y", "w"}};
    static const char *const chosen[HA_OP_ARRAYS] = {"z", "mask", "x", "y"};
    if (key->make || key->tree) return names[2][n];
    return key->line->kind == HA_OP_CHOICE ? chosen[n] : names[key->line->arguments][n];
}

HA_IN_ void ha_op_add_array(ha_op_kernel *k, int n) {
    const ha_op_key *key = &k->op.key;
    ha_kernel_parameter_ *p = ha_op_add_parameter(k, n ? HA_KERNEL_IN_ : HA_KERNEL_OUT_,
                                                  ha_op_array_name(key, n),
                                                  ha_op_is_element(key, n) ? k->type : k->other);
    p->rank = key->rank;
    p->bytes = ha_op_bytes(key, n);
}

HA_IN_ void ha_op_add_number(ha_op_kernel *k, const char *name, ha_dtype type, const char *text) {
    ha_op_add_parameter(k, HA_KERNEL_VALUE_, name, text)->bytes = ha_dtype_size(type);
}

/* What elements are multiplied by in sums of squares. */
HA_IN_ ha_dtype ha_op_scale(const ha_op_type *type) {
    return type->number == HA_DTYPE_float || type->number == HA_DTYPE_c64 ? HA_DTYPE_float
                                                                          : HA_DTYPE_double;
}

HA_IN_ const char *ha_op_scale_text(const ha_op_type *type) {
    return ha_op_scale(type) == HA_DTYPE_float ? "float" : "double";
}

/* In the order of ha_op_walk_of. */
HA_IN_ void ha_op_add_parameters(ha_op_kernel *k) {
    static const char *const at[] = {"by0", "by1", "by2", "by3"};
    const ha_op_key *key = &k->op.key;
    const ha_op_type *type = key->type;
    for (int n = key->tree != NULL; n < ha_op_arrays(key); n++) ha_op_add_array(k, n);
    if (key->by_number) ha_op_add_number(k, "v", type->number, type->computed);
    if (key->line->kind == HA_OP_RANDOM) {
        ha_op_add_number(k, "seed", HA_DTYPE_uint64_t, "uint64_t");
        ha_op_add_number(k, "kept", HA_DTYPE_uint32_t, "uint32_t");
    } else if (key->tree) {
        if (key->line->numbers) ha_op_add_number(k, "a", ha_op_scale(type), ha_op_scale_text(type));
    } else
        for (int i = 0; i < key->line->numbers; i++)
            ha_op_add_number(k, i ? "b" : "a", type->number, type->computed);
    if (ha_op_by_number(key)) {
        ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
    } else if (ha_op_has_place(key) && key->rank) {
        ha_op_add_number(k, "from", HA_DTYPE_int64_t, "int64_t");
        for (int d = 0; d < key->rank; d++) ha_op_add_number(k, at[d], HA_DTYPE_int64_t, "int64_t");
    }
    if (key->line->uses)
        ha_op_add_parameter(k, HA_KERNEL_USES_, "functions of the operation", key->line->uses);
    if (key->tree)
        ha_op_add_parameter(k, HA_KERNEL_RESULT_, "the result", ha_dtype_name(key->line->gives))
            ->bytes = key->tree->reduction.result_bytes;
}

/* ---- its text ------------------------------------------------------------------------------------ */

static const char *const ha_op_indices[] = {"(i)", "(i)", "(i, j)", "(i, j, k)", "(i, j, k, l)"};

/* x[i], HA_AT(x, i, j); or by the number of a lane */
HA_IN_ void ha_op_put_element(ha_text *t, const ha_op_key *key, int n) {
    const char *name = ha_op_array_name(key, n);
    if (ha_op_by_number(key))
        ha_print(t, "%s.data[ha_strided_place_(%s.extent, %s.stride, %d, i)]", name, name, name,
                 key->rank);
    else if (key->rank)
        ha_print(t, "HA_AT(%s, %s", name, ha_op_indices[key->rank] + 1);
    else
        ha_print(t, "%s[i]", name);
}

/* const float u = ha_half_to_float(x[i]); */
HA_IN_ void ha_op_put_variable(ha_text *t, const ha_op_key *key, const char *variable, int n) {
    const int as_float = ha_op_is_as_float(key);
    ha_print(t, "const %s %s = ", key->type->computed, variable);
    if (as_float) ha_print(t, "ha_%s_to_float(", key->type->element);
    ha_op_put_element(t, key, n);
    ha_print(t, as_float ? "); " : "; ");
}

HA_IN_ void ha_op_put_place(ha_text *t, const ha_op_key *key) {
    static const char *const index = "ijkl";
    const int is_lane = !key->rank || ha_op_by_number(key);
    ha_print(t, "const int64_t at = %s", is_lane ? "i" : "from");
    for (int d = 0; d < key->rank && !is_lane; d++) ha_print(t, " + %c * by%d", index[d], d);
    ha_print(t, "; ");
}

HA_IN_ void ha_op_put_choice(ha_text *t, const ha_op_key *key) {
    ha_op_put_element(t, key, 0);
    ha_print(t, " = ");
    ha_op_put_element(t, key, 1);
    ha_print(t, " ? ");
    ha_op_put_element(t, key, 2);
    ha_print(t, " : ");
    ha_op_put_element(t, key, 3);
    ha_print(t, "; }");
}

HA_IN_ void ha_op_put_text(ha_text *t, const ha_op_key *key) {
    const ha_op_line *line = key->line;
    ha_print(t, "{ ");
    if (line->kind == HA_OP_CHOICE) {
        ha_op_put_choice(t, key);
        return;
    }
    if (line->arguments) ha_op_put_variable(t, key, "u", 1);
    if (line->arguments > 1 && !key->by_number) ha_op_put_variable(t, key, "v", 2);
    if (ha_op_has_place(key)) ha_op_put_place(t, key);
    if (key->tree) {
        ha_print(t, "return %s; }", line->text);
        return;
    }
    ha_op_put_element(t, key, 0);
    if (ha_op_is_as_float(key) && ha_op_is_element(key, 0))
        ha_print(t, " = ha_%s_of_float(%s); }", key->type->element, line->text);
    else
        ha_print(t, " = %s; }", line->text);
}

HA_IN_ void ha_op_make_elementwise(ha_op_kernel *k, const ha_op_key *key) {
    const char *element = key->type->element;
    snprintf(k->name, sizeof k->name, "ha_%s%s%s_%s_%d", key->tree ? key->tree->word : "",
             key->line->word, key->by_number ? "_number" : "", element, key->rank);
    snprintf(k->type, sizeof k->type, key->rank ? "array_%s_%d" : "%s", element, key->rank);
    snprintf(k->other, sizeof k->other, key->rank ? "array_%s_%d" : "%s",
             key->line->kind == HA_OP_OTHER ? ha_dtype_name(key->line->gives) : "uint8_t",
             key->rank);
    ha_text text = ha_text_into(k->text, sizeof k->text);
    ha_op_put_text(&text, key);
    ha_op_add_parameters(k);
    k->op.kernel.loops = ha_op_loops;
}

/* The lanes have the rank of the key unless a maker says another one. */
HA_IN_ void ha_op_make(ha_op_kernel *k, const ha_op_key *key) {
    memset(k, 0, sizeof *k);
    k->op.key = *key;
    ha_kernel *kernel = &k->op.kernel;
    kernel->name = k->name;
    kernel->text = k->text;
    kernel->site = "harray/ops.h:1";
    kernel->rank = key->rank && !ha_op_by_number(key) ? key->rank : 1;
    kernel->parameter = k->parameter;
    (key->make ? key->make : ha_op_make_elementwise)(k, key);
    kernel->indices = ha_op_indices[kernel->rank];
}

/* ---- finding it ---------------------------------------------------------------------------------- */

HA_IN_ int ha_op_is_key(const ha_op_key *a, const ha_op_key *b) {
    return a->type == b->type && a->line == b->line && a->rank == b->rank &&
           a->by_number == b->by_number && a->tree == b->tree && a->make == b->make &&
           a->of[0] == b->of[0] && a->of[1] == b->of[1];
}

HA_IN_ ha_op_kernel **ha_op_bucket(const ha_op_key *key) {
    const uint64_t number = (HA_NUMBER_(key->line) >> 3) + (HA_NUMBER_(key->type) >> 3) * 31 +
                            (HA_NUMBER_(key->tree) >> 3) * 127 + (uint64_t)key->rank * 2 +
                            (uint64_t)key->by_number + (uint64_t)key->of[0] * 8 +
                            (uint64_t)key->of[1] * 512;
    return &ha_op_kernels.bucket[number * 0x9e3779b97f4a7c15u >> 58];
}

HA_IN_ const ha_op_kernel *ha_op_find(ha_op_kernel *const *bucket, const ha_op_key *key) {
    const ha_op_kernel *k = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    while (k && !ha_op_is_key(&k->op.key, key)) k = k->next;
    return k;
}

/* NULL: there is no memory. */
HA_IN_ const ha_op_kernel *ha_op_add(ha_op_kernel **bucket, const ha_op_key *key) {
    pthread_mutex_lock(&ha_op_kernels.lock);
    const ha_op_kernel *found = ha_op_find(bucket, key);
    ha_op_kernel *made = found ? NULL : (ha_op_kernel *)HARRAY_MALLOC(sizeof *made);
    if (made) {
        ha_op_make(made, key);
        made->next = *bucket;
        __atomic_store_n(bucket, made, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&ha_op_kernels.lock);
    return found ? found : made;
}

HA_IN_ void ha_op_kernels_end(void) {
    for (int i = 0; i < HA_OP_BUCKETS; i++)
        while (ha_op_kernels.bucket[i]) {
            ha_op_kernel *k = ha_op_kernels.bucket[i];
            ha_op_kernels.bucket[i] = k->next;
            HARRAY_FREE(k);
        }
    if (ha_op_kernels.others_end) ha_op_kernels.others_end();
}

HA_IN_ const ha_kernel *ha_op_kernel_of(const ha_op_key *key) {
    ha_op_kernel **bucket = ha_op_bucket(key);
    const ha_op_kernel *k = ha_op_find(bucket, key);
    if (!k) {
        __atomic_store_n(&ha_registry.operations_end, ha_op_kernels_end, __ATOMIC_RELAXED);
        k = ha_op_add(bucket, key);
    }
    return k ? &k->op.kernel : NULL;
}

#endif
