/* Trees as functions for devices. What no functor names is a unit: a child, whatever is below it, of a node
 * that one names. All units of a node are there equally often, so only named nodes need functions:
 *     name_node_T_N(copies, n0, …)   bytes of node N of tree T, of all its copies or (0) of one
 *     name_leaf_K(i0, …, n0, …)      where leaf K is, from the beginning of its tree on
 * These do at run time what ha_apply_functor does, for the nodes from the root to theirs: c[D] is how
 * often the node of depth D is there, g[D] how often its units, aD its index, and u that of the unit. */
#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_TREE_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_TREE_H

#include "code.h"
#include "../tree/all.h"

typedef struct ha_tree_writer {
    ha_device_writer *to;
    ha_grown_tree *t; /* with each node there once: sizes are those of one copy */
    const char *functors;
    int64_t path[HA_TREE_NODES]; /* from the root to the node whose function this is */
    int depth;                   /* of that node */
    int with_index;              /* 1: also aD and u are followed */
    int folded;                  /* leafonly has been */
} ha_tree_writer;

/* ---- functors ---------------------------------------------------------------------------------- */

HA_IN_ void ha_put_move_down(const ha_tree_writer *x, int d, int64_t every) {
    const long long k = (long long)every;
    if (x->with_index && d < x->depth)
        ha_put_code(x->to, "    a%d += a%d %% %lld * c[%d];\n", d + 1, d, k, d + 1);
    if (x->with_index && d == x->depth)
        ha_put_code(x->to, "    u += a%d %% %lld * g[%d];\n", d, k, d);
    if (x->with_index) ha_put_code(x->to, "    a%d /= %lld;\n", d, k);
    if (d < x->depth) ha_put_code(x->to, "    c[%d] *= %lld;\n", d + 1, k);
    ha_put_code(x->to, "    g[%d] *= %lld;\n    c[%d] = c[%d] / %lld + (c[%d] %% %lld != 0);\n", d,
                k, d, d, k, d, k);
}

HA_IN_ void ha_put_leaf_only(const ha_tree_writer *x) {
    const int last = x->depth;
    for (int d = 0; d < last && x->with_index; d++)
        ha_put_code(x->to, "    a%d += a%d * c[%d];\n    a%d = 0;\n", d + 1, d, d + 1, d);
    if (x->with_index)
        ha_put_code(x->to, "    u += a%d * g[%d];\n    a%d = 0;\n", last, last, last);
    for (int d = 0; d <= last; d++) {
        ha_put_code(x->to, "    g[%d] *= c[%d];\n", d, d);
        if (d < last) ha_put_code(x->to, "    c[%d] *= c[%d];\n", d + 1, d);
        ha_put_code(x->to, "    c[%d] = 1;\n", d);
    }
    if (x->with_index) ha_put_code(x->to, "    w = g[%d];\n", last);
}

HA_IN_ ha_status ha_put_functor(void *writer, const ha_functor *f) {
    ha_tree_writer *x = (ha_tree_writer *)writer;
    int wrong;
    if (f->kind == HA_LEAF_ONLY_) {
        ha_put_leaf_only(x);
        x->folded = 1;
    } else if (f->kind == HA_MOVE_DOWN_ && f->children <= x->depth &&
               x->path[f->children] == ha_named_node(x->t, f, &wrong)) {
        ha_put_move_down(x, f->children, f->every);
    }
    return HA_OK;
}

/* All numbers from the root to this node, as the functors make them. */
HA_IN_ void ha_put_numbers(ha_tree_writer *x, int64_t node, int with_index) {
    const ha_asked nobody = {0};
    ha_reader functors = {.text = x->functors, .at = x->functors, .asked = &nobody};
    const ha_grown_tree *t = x->t;
    x->depth = (int)t->node[node].depth;
    x->with_index = with_index;
    x->folded = 0;
    for (int64_t n = node; n >= 0; n = t->node[n].parent) x->path[t->node[n].depth] = n;
    ha_put_unused(x->to, 'n');
    ha_put_code(x->to, "    $_int c[%d], g[%d];\n", x->depth + 1, x->depth + 1);
    for (int d = 0; d <= x->depth; d++) {
        if (d < t->rank)
            ha_put_code(x->to, "    c[%d] = n%d, g[%d] = 1;\n", d, (int)t->dimension[d], d);
        else
            ha_put_code(x->to, "    c[%d] = 1, g[%d] = 1;\n", d, d);
        if (with_index && d < t->rank)
            ha_put_code(x->to, "    $_int a%d = i%d;\n", d, (int)t->dimension[d]);
        else if (with_index)
            ha_put_code(x->to, "    $_int a%d = 0;\n", d);
    }
    if (with_index) ha_put_code(x->to, "    $_int u = 0, w = 1;\n");
    (void)!ha_each_functor(&functors, ha_put_functor, x);
    ha_put_code(x->to, "    (void)c;\n"); /* who asks for a leaf may need no more than g */
}

/* ---- nodes ------------------------------------------------------------------------------------- */

/* "g2 * 20 + name_node_0_5(1, n0, n1)": the children of a node that come before this one (-1: all). */
HA_IN_ void ha_put_children(const ha_tree_writer *x, int64_t node, int64_t before, int32_t tree) {
    int64_t units = before < 0 ? x->t->node[node].bytes : x->t->node[before].before;
    const int depth = (int)x->t->node[node].depth;
    for (int64_t k = x->t->node[node].first; k != before && k >= 0; k = x->t->node[k].next)
        if (x->t->node[k].is_named) units -= x->t->node[k].bytes;
    ha_put_code(x->to, "g[%d] * %lld", depth, (long long)units);
    for (int64_t k = x->t->node[node].first; k != before && k >= 0; k = x->t->node[k].next)
        if (x->t->node[k].is_named)
            ha_put_code(x->to, " + $_node_%d_%lld(1, @n)", (int)tree, (long long)k);
}

HA_IN_ void ha_put_node(ha_tree_writer *x, int64_t node, int32_t tree) {
    ha_put_code(x->to, "$_FN $_int $_node_%d_%lld(int copies, @E) {\n", (int)tree, (long long)node);
    ha_put_numbers(x, node, 0);
    ha_put_code(x->to, "    return (copies ? c[%d] : 1) * (", x->depth);
    ha_put_children(x, node, -1, tree);
    ha_put_code(x->to, ");\n}\n");
}

/* Of leaf number k, which is this node. */
HA_IN_ void ha_put_tree_leaf(ha_tree_writer *x, int64_t node, int64_t k, int32_t tree) {
    const ha_node *all = x->t->node;
    int64_t unit = node, inside = 0;
    for (; !all[all[unit].parent].is_named; unit = all[unit].parent) inside += all[unit].before;
    ha_put_code(x->to, "$_FN $_int $_leaf_%lld(@P) {\n", (long long)k);
    ha_put_numbers(x, all[unit].parent, 1);
    ha_put_code(x->to, "    return ");
    for (int d = 0; d <= x->depth; d++) {
        ha_put_code(x->to, "a%d * $_node_%d_%lld(0, @n) + ", d, (int)tree, (long long)x->path[d]);
        ha_put_children(x, x->path[d], d < x->depth ? x->path[d + 1] : unit, tree);
        ha_put_code(x->to, " + ");
    }
    ha_put_code(x->to, "%lld * w + u * %lld;\n}\n", (long long)inside,
                (long long)all[x->folded ? node : unit].bytes);
}

/* ---- all --------------------------------------------------------------------------------------- */

/* 0: there is no memory. */
HA_IN_ int ha_put_tree_functions(ha_device_writer *w, int32_t tree) {
    const ha_asked nobody = {0};
    ha_tree_maker made;
    const ha_status s = ha_tree_of(w->mapping, tree, 0, &made, &nobody);
    ha_tree_writer x = {.to = w, .t = &made.t, .functors = w->mapping->tree[tree].functors};
    for (int64_t k = 0; !s && k < made.t.nodes; k++) made.t.node[k].copies = 1;
    if (!s && ha_measure(&made.t)) {
        for (int64_t k = made.t.nodes; k-- > 0;)
            if (made.t.node[k].is_named) ha_put_node(&x, k, tree);
        for (int64_t k = 0; k < made.t.nodes; k++)
            if (made.t.node[k].leaf >= 0) ha_put_tree_leaf(&x, k, made.t.node[k].leaf, tree);
    }
    HA_LAYOUT_FREE_(made.t.node);
    return !s;
}

#endif
