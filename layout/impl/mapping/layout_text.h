/* Layouts as text: reading them into a tree of ha_layout, and writing that as text. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_LAYOUT_TEXT_H
#define HARRAY_LAYOUT_IMPL_MAPPING_LAYOUT_TEXT_H

#include "changes_text.h"
#include "../tree/all.h"

enum { HA_LAYOUT_DEPTH = 64 }; /* layouts inside each other: the stack is finite */

/* What is read; the layout comes first. */
typedef struct ha_layout_node {
    ha_layout layout;
    int64_t position; /* of its first character */
} ha_layout_node;

typedef struct ha_layout_reader {
    ha_reader reader;
    char *copy; /* of the text: paths are ended by zeros in it */
    ha_layout_node *node;
    int64_t nodes;
    int rank, depth;
    int instruments; /* layouts around the one that is read, when all of them only count */
    int counted, heated;
} ha_layout_reader;

static const struct ha_layout_name {
    const char *name;
    ha_layout_kind kind;
} ha_layout_names[] = {
    {"aos", HA_LAYOUT_AOS},           {"soa", HA_LAYOUT_SOA},
    {"aosoa", HA_LAYOUT_AOSOA},       {"one", HA_LAYOUT_ONE},
    {"null", HA_LAYOUT_NULL},         {"split", HA_LAYOUT_SPLIT},
    {"permute", HA_LAYOUT_PERMUTE},   {"changetype", HA_LAYOUT_CHANGETYPE},
    {"byteswap", HA_LAYOUT_BYTESWAP}, {"bytesplit", HA_LAYOUT_BYTESPLIT},
    {"bitint", HA_LAYOUT_BITINT},     {"bitfloat", HA_LAYOUT_BITFLOAT},
    {"count", HA_LAYOUT_COUNT},       {"heatmap", HA_LAYOUT_HEATMAP},
    {"tree", HA_LAYOUT_TREE},
};

static const struct ha_layout_option {
    ha_layout_kind kind;
    const char *name;
    uint32_t flag, with, without; /* only with and only without these flags */
} ha_layout_options[] = {
    {HA_LAYOUT_AOS, "packed", HA_LAYOUT_PACKED, 0, HA_LAYOUT_MINALIGN},
    {HA_LAYOUT_AOS, "minalign", HA_LAYOUT_MINALIGN, 0, HA_LAYOUT_PACKED},
    {HA_LAYOUT_SOA, "single", HA_LAYOUT_SINGLE, 0, HA_LAYOUT_FIELDS},
    {HA_LAYOUT_SOA, "aligned", HA_LAYOUT_ALIGNED, HA_LAYOUT_SINGLE, 0},
    {HA_LAYOUT_SOA, "fields", HA_LAYOUT_FIELDS, 0, HA_LAYOUT_SINGLE},
    {HA_LAYOUT_AOSOA, "aligned", HA_LAYOUT_ALIGNED, 0, 0},
    {HA_LAYOUT_AOSOA, "rows", HA_LAYOUT_ROWS, 0, 0},
    {HA_LAYOUT_ONE, "packed", HA_LAYOUT_PACKED, 0, HA_LAYOUT_MINALIGN},
    {HA_LAYOUT_ONE, "minalign", HA_LAYOUT_MINALIGN, 0, HA_LAYOUT_PACKED},
};
#define HA_BITS_INSIDE_ "bits are laid out as soa or aos, without options"
#define HA_ENTRIES_(array) (sizeof(array) / sizeof(array)[0])

/* ---- reading --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_read_layout(ha_layout_reader *l, const ha_layout **result);

/* One word of the options that may follow; "" behind the last. */
HA_IN_ ha_status ha_read_option(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    const char *start;
    ha_skip_blanks(r);
    start = r->at;
    for (size_t k = 0; k < HA_ENTRIES_(ha_layout_options); k++) {
        const struct ha_layout_option *o = &ha_layout_options[k];
        if (o->kind != layout->kind || !ha_accept_word(r, o->name)) continue;
        if ((layout->flags & o->flag) != 0) return ha_refuse_at(r, start, "it is there already");
        if ((layout->flags & o->with) != o->with)
            return ha_refuse_at(r, start, "this needs \"single\" before it");
        if ((layout->flags & o->without) != 0)
            return ha_refuse_at(r, start,
                                layout->kind == HA_LAYOUT_SOA
                                    ? "single and fields exclude each other"
                                    : "packed and minalign exclude each other");
        layout->flags |= o->flag;
        return HA_OK;
    }
    return ha_expected(r, layout->kind == HA_LAYOUT_SOA     ? "single, aligned or fields"
                          : layout->kind == HA_LAYOUT_AOSOA ? "aligned or rows"
                                                            : "packed or minalign");
}

/* "(…)" behind aos, soa, aosoa and one. */
HA_IN_ ha_status ha_read_options(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    int more = ha_accept(r, '(');
    if (layout->kind == HA_LAYOUT_AOSOA) {
        ha_status s;
        if (!more) return ha_expected(r, "'(' and a number of lanes");
        s = ha_read_number(r, "a number of lanes", 1, INT64_MAX, &layout->lanes);
        if (s) return s;
        more = ha_accept(r, ',');
        if (!more) return ha_expect(r, ')', "')' or ','");
    }
    while (more) {
        const ha_status s = ha_read_option(l, layout);
        if (s) return s;
        more = ha_accept(r, ',');
        if (!more) return ha_expect(r, ')', "')' or ','");
    }
    return HA_OK;
}

HA_IN_ ha_status ha_read_order(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    const char *start;
    if (!ha_accept(r, '@')) return HA_OK;
    ha_skip_blanks(r);
    start = r->at;
    if (ha_accept_word(r, "row"))
        layout->order = HA_ROW;
    else if (ha_accept_word(r, "col"))
        layout->order = HA_COL;
    else if (ha_accept_word(r, "morton"))
        layout->order = HA_MORTON;
    else
        return ha_expected(r, "row, col or morton");
    if (layout->order == HA_MORTON && (layout->flags & HA_LAYOUT_ROWS) != 0)
        return ha_refuse_at(r, start, "in Morton order there are no rows");
    return HA_OK;
}

HA_IN_ ha_status ha_read_leaf_layout(ha_layout_reader *l, ha_layout *layout) {
    const ha_status s = ha_read_options(l, layout);
    return s ? s : ha_read_order(l, layout);
}

/* "PATH+PATH…:" */
HA_IN_ ha_status ha_read_paths(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    ha_status s;
    int counts;
    ha_skip_blanks(r);
    layout->paths = r->at;
    do {
        ha_skip_blanks(r);
        s = ha_read_path(r, 0, NULL, &counts);
        if (s) return s;
    } while (ha_accept(r, '+'));
    s = ha_expect(r, ':', "':', '+', '.' or '['");
    if (s) return s;
    l->copy[r->at - 1 - r->text] = 0;
    return HA_OK;
}

/* "(separate; PATHS: A, B)" */
HA_IN_ ha_status ha_read_split(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    ha_status s = ha_expect(r, '(', "'('");
    const char *start = r->at;
    if (s) return s;
    if (ha_accept_word(r, "separate") && ha_accept(r, ';'))
        layout->flags |= HA_LAYOUT_SEPARATE;
    else
        r->at = start; /* a field may be called so */
    s = ha_read_paths(l, layout);
    if (!s) s = ha_read_layout(l, &layout->first);
    if (!s) s = ha_expect(r, ',', "','");
    if (!s) s = ha_read_layout(l, &layout->second);
    return s ? s : ha_expect(r, ')', "')'");
}

/* "(P0,P1,…, A)" */
HA_IN_ ha_status ha_read_permute(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    ha_status s = ha_expect(r, '(', "'('");
    int seen = 0;
    for (int d = 0; !s && d < l->rank; d++) {
        const char *start;
        int64_t number = 0;
        ha_skip_blanks(r);
        start = r->at;
        s = ha_read_number(r, "the number of a dimension", 0, l->rank - 1, &number);
        if (!s && (seen & 1 << number) != 0)
            s = ha_refuse_at(r, start, "this dimension is there already");
        if (!s) s = ha_expect(r, ',', "','");
        seen |= 1 << number;
        layout->dimension[d] = (int32_t)number;
    }
    if (!s) s = ha_read_layout(l, &layout->first);
    return s ? s : ha_expect(r, ')', "')'");
}

enum { HA_CACHE_LINE = 64, HA_LARGEST_GRANULE = 1048576 }; /* bytes of a heatmap's granules */

HA_IN_ int ha_is_instrument(ha_layout_kind kind) {
    return kind == HA_LAYOUT_COUNT || kind == HA_LAYOUT_HEATMAP;
}

/* "(A)" and "(BYTES; A)" of count and heatmap, whose word starts at this position. */
HA_IN_ ha_status ha_read_instrument(ha_layout_reader *l, ha_layout *layout, int64_t position) {
    ha_reader *r = &l->reader;
    int *seen = layout->kind == HA_LAYOUT_COUNT ? &l->counted : &l->heated;
    ha_status s = HA_OK;
    if (l->instruments + 1 != l->depth)
        return ha_refuse_at(r, r->text + position, "this has to stand outside of other layouts");
    if (*seen) return ha_refuse_at(r, r->text + position, "it is there already");
    *seen = 1;
    l->instruments++;
    s = ha_expect(r, '(', "'('");
    if (s) return s;
    ha_skip_blanks(r);
    if (layout->kind == HA_LAYOUT_HEATMAP && ha_is_digit(*r->at)) {
        s = ha_read_number(r, "a number of bytes", 1, HA_LARGEST_GRANULE, &layout->lanes);
        if (!s) s = ha_expect(r, ';', "';'");
    }
    if (!s) s = ha_read_layout(l, &layout->first);
    return s ? s : ha_expect(r, ')', "')'");
}

/* "M)" */
HA_IN_ ha_status ha_read_inside(ha_layout_reader *l, ha_layout *layout) {
    const ha_status s = ha_read_layout(l, &layout->first);
    return s ? s : ha_expect(&l->reader, ')', "')'");
}

/* "(M)" */
HA_IN_ ha_status ha_read_wrapper(ha_layout_reader *l, ha_layout *layout) {
    const ha_status s = ha_expect(&l->reader, '(', "'('");
    return s ? s : ha_read_inside(l, layout);
}

/* "(FROM:TO, …; M)" */
HA_IN_ ha_status ha_read_changetype(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    ha_status s = ha_expect(r, '(', "'('");
    layout->changes = r->at;
    if (!s) s = ha_read_changes(r);
    if (!s) s = ha_expect(r, ';', "',' or ';'");
    if (s) return s;
    l->copy[r->at - 1 - r->text] = 0;
    return ha_read_inside(l, layout);
}

/* "(BITS; M)" and "(EXPONENT,MANTISSA; M)", M being soa or aos. */
HA_IN_ ha_status ha_read_bits(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    const char *start;
    int64_t first = 0, second = 0;
    ha_status s = ha_expect(r, '(', "'('");
    if (s) return s;
    if (layout->kind == HA_LAYOUT_BITINT) {
        s = ha_read_number(r, "a number of bits", 1, 64, &first);
        layout->bits = (int32_t)first;
    } else {
        s = ha_read_number(r, "a number of bits for the exponent", 1, 11, &first);
        if (!s) s = ha_expect(r, ',', "','");
        if (!s) s = ha_read_number(r, "a number of bits for the mantissa", 0, 52, &second);
        layout->exponent = (int32_t)first;
        layout->mantissa = (int32_t)second;
    }
    if (!s) s = ha_expect(r, ';', "';'");
    if (s) return s;
    ha_skip_blanks(r);
    start = r->at;
    if (!ha_accept_word(r, "soa") && !ha_accept_word(r, "aos")) return ha_expected(r, "soa or aos");
    r->at = start;
    s = ha_read_layout(l, &layout->first);
    if (s) return s;
    if (layout->first->flags != 0) return ha_refuse_at(r, start, HA_BITS_INSIDE_);
    return ha_expect(r, ')', "')'");
}

/* "", or "(F, F, …)" */
HA_IN_ ha_status ha_read_tree(ha_layout_reader *l, ha_layout *layout) {
    ha_reader *r = &l->reader;
    ha_status s;
    if (!ha_accept(r, '(')) return HA_OK;
    layout->functors = r->at;
    s = ha_each_functor(r, NULL, NULL);
    if (!s) s = ha_expect(r, ')', "')' or ','");
    if (!s) l->copy[r->at - 1 - r->text] = 0;
    return s;
}

HA_IN_ ha_status ha_read_kind(ha_layout_reader *l, ha_layout *layout) {
    for (size_t k = 0; k < HA_ENTRIES_(ha_layout_names); k++)
        if (ha_accept_word(&l->reader, ha_layout_names[k].name)) {
            layout->kind = ha_layout_names[k].kind;
            return HA_OK;
        }
    return ha_expected(&l->reader,
                       "a layout (aos, soa, aosoa, one, null, split, permute, tree, "
                       "changetype, byteswap, bytesplit, bitint, bitfloat, count, heatmap)");
}

HA_IN_ ha_status ha_read_layout(ha_layout_reader *l, const ha_layout **result) {
    ha_layout_node *node;
    ha_status s;
    ha_skip_blanks(&l->reader);
    if (l->depth == HA_LAYOUT_DEPTH)
        return ha_refuse_at(&l->reader, l->reader.at, "there are too many layouts inside others");
    node = &l->node[l->nodes]; /* there is room for it: each has three letters at least */
    memset(node, 0, sizeof *node);
    node->position = l->reader.at - l->reader.text;
    s = ha_read_kind(l, &node->layout);
    if (s) return s;
    l->nodes++;
    *result = &node->layout;
    l->depth++;
    switch (node->layout.kind) {
    case HA_LAYOUT_SPLIT:
        s = ha_read_split(l, &node->layout);
        break;
    case HA_LAYOUT_PERMUTE:
        s = ha_read_permute(l, &node->layout);
        break;
    case HA_LAYOUT_COUNT:
    case HA_LAYOUT_HEATMAP:
        s = ha_read_instrument(l, &node->layout, node->position);
        break;
    case HA_LAYOUT_CHANGETYPE:
        s = ha_read_changetype(l, &node->layout);
        break;
    case HA_LAYOUT_BYTESWAP:
    case HA_LAYOUT_BYTESPLIT:
        s = ha_read_wrapper(l, &node->layout);
        break;
    case HA_LAYOUT_BITINT:
    case HA_LAYOUT_BITFLOAT:
        s = ha_read_bits(l, &node->layout);
        break;
    case HA_LAYOUT_TREE:
        s = ha_read_tree(l, &node->layout);
        break;
    case HA_LAYOUT_NULL:
        break;
    default:
        s = ha_read_leaf_layout(l, &node->layout);
        break;
    }
    l->depth--;
    return s;
}

/* The whole text as a layout. In `memory`, of ha_layout_reader_bytes, is room for all of it. */
HA_IN_ size_t ha_layout_reader_bytes(const char *text) {
    const size_t length = strlen(text);
    return (length / 3 + 1) * sizeof(ha_layout_node) + length + 1;
}

HA_IN_ ha_status ha_read_whole_layout(ha_layout_reader *l, const char *text, int rank,
                                      const ha_asked *asked, void *memory,
                                      const ha_layout **layout) {
    const size_t length = strlen(text);
    ha_status s;
    memset(l, 0, sizeof *l);
    l->node = (ha_layout_node *)memory;
    l->copy = (char *)memory + (length / 3 + 1) * sizeof(ha_layout_node);
    l->rank = rank;
    memcpy(l->copy, text, length + 1);
    l->reader = (ha_reader){.text = l->copy, .at = l->copy, .asked = asked};
    s = ha_read_layout(l, layout);
    if (s) return s;
    ha_skip_blanks(&l->reader);
    return *l->reader.at ? ha_expected(&l->reader, "the end") : HA_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

HA_IN_ const char *ha_layout_kind_name(ha_layout_kind kind) {
    for (size_t k = 0; k < HA_ENTRIES_(ha_layout_names); k++)
        if (ha_layout_names[k].kind == kind) return ha_layout_names[k].name;
    return NULL;
}

HA_IN_ void ha_put_options(ha_text *w, const ha_layout *layout) {
    const char *before = "(";
    if (layout->kind == HA_LAYOUT_AOSOA) {
        ha_print(w, "(%lld", (long long)layout->lanes);
        before = ",";
    }
    for (size_t k = 0; k < HA_ENTRIES_(ha_layout_options); k++) {
        const struct ha_layout_option *o = &ha_layout_options[k];
        if (o->kind == layout->kind && (layout->flags & o->flag) != 0) {
            ha_print(w, "%s%s", before, o->name);
            before = ",";
        }
    }
    if (before[0] == ',') ha_print(w, ")");
    if (layout->order == HA_COL) ha_print(w, "@col");
    if (layout->order == HA_MORTON) ha_print(w, "@morton");
}

/* What stands in the parentheses before the layouts inside. */
HA_IN_ void ha_put_arguments(ha_text *w, const ha_layout *layout, int rank) {
    switch (layout->kind) {
    case HA_LAYOUT_SPLIT:
        ha_print(w, "%s", (layout->flags & HA_LAYOUT_SEPARATE) != 0 ? "separate; " : "");
        for (const char *p = layout->paths; *p; p++)
            if (!ha_is_blank(*p)) ha_print(w, "%c", *p);
        ha_print(w, ": ");
        break;
    case HA_LAYOUT_PERMUTE:
        for (int d = 0; d < rank; d++) ha_print(w, "%d,", (int)layout->dimension[d]);
        ha_print(w, " ");
        break;
    case HA_LAYOUT_CHANGETYPE:
        ha_put_changes(w, layout->changes);
        ha_print(w, "; ");
        break;
    case HA_LAYOUT_HEATMAP:
        if (layout->lanes > 0) ha_print(w, "%lld; ", (long long)layout->lanes);
        break;
    case HA_LAYOUT_BITINT:
        ha_print(w, "%d; ", (int)layout->bits);
        break;
    case HA_LAYOUT_BITFLOAT:
        ha_print(w, "%d,%d; ", (int)layout->exponent, (int)layout->mantissa);
        break;
    default:
        break;
    }
}

HA_IN_ void ha_put_functors(ha_text *w, const char *functors) {
    ha_print(w, "(");
    for (const char *p = functors ? functors : ""; *p; p++)
        if (!ha_is_blank(*p)) ha_print(w, *p == ',' ? "%c " : "%c", *p);
    ha_print(w, ")");
}

HA_IN_ void ha_put_layout(ha_text *w, const ha_layout *layout, int rank) {
    ha_print(w, "%s", ha_layout_kind_name(layout->kind));
    if (layout->kind == HA_LAYOUT_TREE) ha_put_functors(w, layout->functors);
    if (!layout->first) {
        ha_put_options(w, layout);
        return;
    }
    ha_print(w, "(");
    ha_put_arguments(w, layout, rank);
    ha_put_layout(w, layout->first, rank);
    if (layout->second) {
        ha_print(w, ", ");
        ha_put_layout(w, layout->second, rank);
    }
    ha_print(w, ")");
}

#endif
