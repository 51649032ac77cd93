/* The functors of trees as text: "leafonly, movedown(0/1;8)". */
#ifndef HARRAY_LAYOUT_IMPL_TREE_FUNCTORS_H
#define HARRAY_LAYOUT_IMPL_TREE_FUNCTORS_H

#include "../../tree.h"
#include "../base/all.h"

typedef enum ha_functor_kind { HA_IDEM_, HA_LEAF_ONLY_, HA_MOVE_DOWN_ } ha_functor_kind;

typedef struct ha_functor {
    ha_functor_kind kind;
    int children;                 /* of the path; 0: the root */
    int64_t child[HA_TREE_PATH];  /* numbers on the way down from the root */
    const char *at[HA_TREE_PATH]; /* where they stand */
    const char *start;            /* where it begins */
    int64_t every;
} ha_functor;

/* "C0/C1/…;K)" */
HA_IN_ ha_status ha_read_move_down(ha_reader *r, ha_functor *f) {
    ha_status s = ha_expect(r, '(', "'('");
    int more = 0;
    if (s) return s;
    ha_skip_blanks(r);
    if (ha_is_digit(*r->at)) {
        do {
            ha_skip_blanks(r);
            if (f->children == HA_TREE_PATH)
                return ha_expected(r, "no more numbers than 13 in a path");
            f->at[f->children] = r->at;
            s = ha_read_number(r, "the number of a child", 0, HA_MOST_LEAVES,
                               &f->child[f->children++]);
            if (s) return s;
            more = ha_accept(r, '/');
        } while (more);
        s = ha_expect(r, ';', "';' or '/'");
    } else {
        s = ha_expect(r, ';', "the number of a child, or ';'");
    }
    if (!s) s = ha_read_number(r, "how many copies become one", 1, INT64_MAX, &f->every);
    return s ? s : ha_expect(r, ')', "')'");
}

/* The next functor of a list; *more: there is one behind it. */
HA_IN_ ha_status ha_read_functor(ha_reader *r, ha_functor *f, int *more) {
    ha_status s = HA_OK;
    memset(f, 0, sizeof *f);
    ha_skip_blanks(r);
    f->start = r->at;
    if (ha_accept_word(r, "leafonly"))
        f->kind = HA_LEAF_ONLY_;
    else if (ha_accept_word(r, "movedown"))
        f->kind = HA_MOVE_DOWN_;
    else if (!ha_accept_word(r, "idem"))
        return ha_expected(r, "idem, leafonly or movedown");
    if (f->kind == HA_MOVE_DOWN_) s = ha_read_move_down(r, f);
    *more = !s && ha_accept(r, ',');
    return s;
}

/* Is the list over, or empty from its beginning? */
HA_IN_ int ha_functors_end(ha_reader *r) {
    ha_skip_blanks(r);
    return *r->at == ')' || !*r->at;
}

/* Goes through a whole list, up to its end or a ")", calling this for each. */
HA_IN_ ha_status ha_each_functor(ha_reader *r, ha_status (*each)(void *, const ha_functor *),
                                 void *of) {
    int more = !ha_functors_end(r);
    for (int k = 0; more; k++) {
        ha_functor f;
        ha_status s;
        ha_skip_blanks(r);
        if (k == HA_TREE_FUNCTORS) return ha_expected(r, "no more functors than 64 of a tree");
        s = ha_read_functor(r, &f, &more);
        if (!s && each) s = each(of, &f);
        if (s) return s;
    }
    return HA_OK;
}

#endif
