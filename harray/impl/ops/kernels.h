/* Operations as kernels: one for each type, rank and kind of arguments, made when it is first asked for, and kept until
 * ha_shutdown. */
#ifndef HARRAY_IMPL_OPS_KERNELS_H
#define HARRAY_IMPL_OPS_KERNELS_H

#include "boxes.h"

enum { HA_OP_PARAMETERS = 5, HA_OP_BUCKETS = 64, HA_OP_TEXT = 1024, HA_OP_NAME = 64 };

/* What a kernel is made for. rank: of the views; 0: whole arrays. */
typedef struct ha_op_key {
    const ha_op_type *type;
    const ha_op_line *line;
    int rank;
    int by_number; /* the second argument is a number */
} ha_op_key;

typedef struct ha_op_kernel {
    struct ha_op_kernel *next; /* in its bucket */
    ha_op_key key;
    ha_kernel kernel;
    ha_kernel_parameter_ parameter[HA_OP_PARAMETERS];
    char name[HA_OP_NAME], type[HA_OP_NAME], text[HA_OP_TEXT];
} ha_op_kernel;

HA_STATE_ struct {
    pthread_mutex_t lock; /* to add one; they are found without it */
    ha_op_kernel *bucket[HA_OP_BUCKETS];
} ha_op_kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what it is given ---------------------------------------------------------------------------- */

HA_IN_ void ha_op_add_parameter(ha_op_kernel *k, ha_kernel_mode_ mode, const char *name) {
    const int is_array = mode != HA_KERNEL_VALUE_;
    k->parameter[k->kernel.parameters++] = (ha_kernel_parameter_){
        .mode = mode,
        .rank = is_array ? k->key.rank : 0,
        .bytes = ha_dtype_size(is_array ? k->key.type->type : k->key.type->number),
        .type = is_array ? k->type : k->key.type->computed,
        .name = name,
        .site = name};
}

HA_IN_ void ha_op_add_parameters(ha_op_kernel *k) {
    const ha_op_line *line = k->key.line;
    ha_op_add_parameter(k, HA_KERNEL_OUT_, "z");
    ha_op_add_parameter(k, HA_KERNEL_IN_, "x");
    if (line->arguments > 1)
        ha_op_add_parameter(k, k->key.by_number ? HA_KERNEL_VALUE_ : HA_KERNEL_IN_,
                            k->key.by_number ? "v" : "y");
    if (!line->numbers) return;
    ha_op_add_parameter(k, HA_KERNEL_VALUE_, "a");
    ha_op_add_parameter(k, HA_KERNEL_VALUE_, "b");
}

/* ---- its text ------------------------------------------------------------------------------------ */

static const char *const ha_op_indices[] = {"(i)", "(i)", "(i, j)", "(i, j, k)", "(i, j, k, l)"};

/* x[i], HA_AT(x, i, j) */
HA_IN_ void ha_op_put_element(ha_text *t, const ha_op_kernel *k, const char *name) {
    const int rank = k->key.rank;
    if (rank)
        ha_print(t, "HA_AT(%s, %s", name, ha_op_indices[rank] + 1);
    else
        ha_print(t, "%s[i]", name);
}

/* const float u = ha_half_to_float(x[i]); */
HA_IN_ void ha_op_put_variable(ha_text *t, const ha_op_kernel *k, const char *variable,
                               const char *name) {
    const ha_op_type *type = k->key.type;
    const int as_float = type->type != type->number;
    ha_print(t, "const %s %s = ", type->computed, variable);
    if (as_float) ha_print(t, "ha_%s_to_float(", type->element);
    ha_op_put_element(t, k, name);
    ha_print(t, as_float ? "); " : "; ");
}

HA_IN_ void ha_op_put_text(ha_op_kernel *k) {
    const ha_op_type *type = k->key.type;
    const ha_op_line *line = k->key.line;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    ha_print(&t, "{ ");
    ha_op_put_variable(&t, k, "u", "x");
    if (line->arguments > 1 && !k->key.by_number) ha_op_put_variable(&t, k, "v", "y");
    ha_op_put_element(&t, k, "z");
    if (type->type != type->number)
        ha_print(&t, " = ha_%s_of_float(%s); }", type->element, line->text);
    else
        ha_print(&t, " = %s; }", line->text);
}

HA_IN_ void ha_op_make(ha_op_kernel *k, const ha_op_key *key) {
    const char *element = key->type->element;
    memset(k, 0, sizeof *k);
    k->key = *key;
    snprintf(k->name, sizeof k->name, "ha_%s%s_%s_%d", key->line->word,
             key->by_number ? "_number" : "", element, key->rank);
    snprintf(k->type, sizeof k->type, key->rank ? "array_%s_%d" : "%s", element, key->rank);
    ha_op_put_text(k);
    ha_op_add_parameters(k);
    k->kernel.name = k->name;
    k->kernel.text = k->text;
    k->kernel.indices = ha_op_indices[key->rank];
    k->kernel.site = "harray/ops.h:1";
    k->kernel.rank = key->rank ? key->rank : 1;
    k->kernel.parameter = k->parameter;
    k->kernel.loops = key->line->loops;
}

/* ---- finding it ---------------------------------------------------------------------------------- */

HA_IN_ int ha_op_is_key(const ha_op_key *a, const ha_op_key *b) {
    return a->line == b->line && a->rank == b->rank && a->by_number == b->by_number;
}

HA_IN_ ha_op_kernel **ha_op_bucket(const ha_op_key *key) {
    const uint64_t number = (HA_NUMBER_(key->line) >> 3) + (uint64_t)key->rank * 2 +
                            (uint64_t)key->by_number;
    return &ha_op_kernels.bucket[number * 0x9e3779b97f4a7c15u >> 58];
}

HA_IN_ const ha_op_kernel *ha_op_find(ha_op_kernel *const *bucket, const ha_op_key *key) {
    const ha_op_kernel *k = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    while (k && !ha_op_is_key(&k->key, key)) k = k->next;
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
}

HA_IN_ const ha_kernel *ha_op_kernel_of(const ha_op_key *key) {
    ha_op_kernel **bucket = ha_op_bucket(key);
    const ha_op_kernel *k = ha_op_find(bucket, key);
    if (!k) {
        __atomic_store_n(&ha_registry.operations_end, ha_op_kernels_end, __ATOMIC_RELAXED);
        k = ha_op_add(bucket, key);
    }
    return k ? &k->kernel : NULL;
}

#endif
