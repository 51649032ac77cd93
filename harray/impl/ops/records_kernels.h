/* Kernels over records, whose text is made for the fields and the operation when these are first asked for: one for
 * each, kept until ha_shutdown. */
#ifndef HARRAY_IMPL_OPS_RECORDS_KERNELS_H
#define HARRAY_IMPL_OPS_RECORDS_KERNELS_H

#include "kernels.h"
#include "../kernels/all.h"

enum { HA_MADE_PARAMETERS = 8 };

/* What it is found by: which fields of the records are opened, what is computed, and the records. Those of the other
 * records are empty where there are none. */
typedef enum ha_made_text {
    HA_MADE_WHAT,
    HA_MADE_BODY,
    HA_MADE_RECORD,
    HA_MADE_OTHER_WHAT,
    HA_MADE_OTHER_RECORD,
    HA_MADE_TEXTS
} ha_made_text;

/* Writes one of them for a call. */
typedef void ha_made_put(ha_text *t, int which, const void *call);

typedef struct ha_made_kernel {
    struct ha_made_kernel *next;
    ha_kernel kernel;
    ha_records_type_ type[2];
    ha_kernel_parameter_ parameter[HA_MADE_PARAMETERS];
    const char *text[HA_MADE_TEXTS]; /* behind it */
} ha_made_kernel;

HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_made_kernel *first;
} ha_made_kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what it is given ---------------------------------------------------------------------------- */

/* What of a record a program depends on. */
HA_IN_ void ha_made_put_record(ha_text *t, const ha_record *record) {
    ha_print(t, "%lld %lld", (long long)record->size, (long long)record->alignment);
    for (int64_t i = 0; i < record->fields; i++) {
        const ha_field *f = &record->field[i];
        ha_print(t, " %s:%d@%lld", f->path, (int)f->type, (long long)f->offset);
        for (int d = 0; d < HA_MOST_SUBSCRIPTS && f->stride[d]; d++)
            ha_print(t, "+%lld", (long long)f->stride[d]);
    }
}

/* Which only the host writes, as neighbours have bits in the same bytes. */
HA_IN_ int ha_made_has_bits(const ha_mapping *m, const ha_access_spec *chosen) {
    for (int32_t k = 0; k < chosen->runs; k++)
        for (int64_t leaf = chosen->run[k].leaf; leaf < chosen->run[k].end; leaf++)
            if (ha_row_has_bits(m, &m->row[leaf])) return 1;
    return 0;
}

/* Of the arguments that records are, with those of the lanes: a pointer to a blob has two. */
HA_IN_ size_t ha_made_bytes(const ha_mapping *m) {
    return (3 * (size_t)m->rank + 2 * (size_t)m->blobs) * sizeof(int64_t);
}

HA_IN_ ha_kernel_parameter_ *ha_made_add(ha_made_kernel *made, ha_kernel_mode_ mode,
                                         const char *name, const char *type) {
    ha_kernel_parameter_ *p = &made->parameter[made->kernel.parameters++];
    *p = (ha_kernel_parameter_){.mode = mode, .type = type, .name = name, .site = "harray/ops.h:1"};
    return p;
}

/* Kernels need no view of the records here. */
HA_IN_ ha_status ha_made_view(const ha_mapping *m, void *const *blob, int own, void *view,
                              ha_error *error) {
    (void)m, (void)blob, (void)own, (void)view;
    return error->status = HA_OK;
}

/* Records of a rank, by the name `name`, as views of the type `view`. */
HA_IN_ void ha_made_add_records(ha_made_kernel *made, int other, int rank, const char *name,
                                const char *view) {
    ha_records_type_ *type = &made->type[other];
    *type = (ha_records_type_){.view = view, .rank = rank, .kind = -1, .make = ha_made_view};
    ha_kernel_parameter_ *p = ha_made_add(made, HA_KERNEL_RECORDS_, name, view);
    p->records = type;
    p->what = made->text[other ? HA_MADE_OTHER_WHAT : HA_MADE_WHAT];
}

/* ---- making and keeping -------------------------------------------------------------------------- */

/* With room for its texts, and the records p, of views of type ha_these. NULL: there is no memory. */
HA_IN_ ha_made_kernel *ha_made_new(const char *name, int rank, ha_made_put *put, const void *call) {
    size_t bytes[HA_MADE_TEXTS], all = sizeof(ha_made_kernel);
    for (int i = 0; i < HA_MADE_TEXTS; i++) {
        ha_text t = ha_text_into(NULL, 0);
        put(&t, i, call);
        all += bytes[i] = t.length + 1;
    }
    ha_made_kernel *made = (ha_made_kernel *)HARRAY_MALLOC(all);
    if (!made) return NULL;
    memset(made, 0, all);
    char *at = (char *)(made + 1);
    for (int i = 0; i < HA_MADE_TEXTS; i++) {
        ha_text t = ha_text_into(at, bytes[i]);
        put(&t, i, call);
        made->text[i] = at;
        at += bytes[i];
    }
    made->kernel = (ha_kernel){.name = name,
                               .text = made->text[HA_MADE_BODY],
                               .indices = "at",
                               .site = "harray/ops.h:1",
                               .rank = rank,
                               .parameter = made->parameter,
                               .each = 1};
    ha_made_add_records(made, 0, rank, "p", "ha_these");
    return made;
}

HA_IN_ void ha_made_end(void) {
    while (ha_made_kernels.first) {
        ha_made_kernel *made = ha_made_kernels.first;
        ha_made_kernels.first = made->next;
        HARRAY_FREE(made);
    }
}

HA_IN_ int ha_made_is(const ha_made_kernel *a, const ha_made_kernel *b) {
    int is = a->kernel.name == b->kernel.name && a->kernel.rank == b->kernel.rank;
    for (int i = 0; i < HA_MADE_TEXTS && is; i++) is = !strcmp(a->text[i], b->text[i]);
    return is;
}

/* A new one that is complete, or the one like it that is there. */
HA_IN_ const ha_made_kernel *ha_made_keep(ha_made_kernel *fresh) {
    pthread_mutex_lock(&ha_made_kernels.lock);
    ha_made_kernel *at = ha_made_kernels.first;
    while (at && !ha_made_is(at, fresh)) at = at->next;
    if (!at) {
        fresh->next = ha_made_kernels.first;
        ha_made_kernels.first = fresh;
        ha_op_kernels.others_end = ha_made_end;
        __atomic_store_n(&ha_registry.operations_end, ha_op_kernels_end, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&ha_made_kernels.lock);
    if (at) HARRAY_FREE(fresh);
    return at ? at : fresh;
}

#endif
