/* From a layout to the table: which sections the blobs consist of, and where in them each leaf lies.
 * Where the sections start is found when all of them are known (place.h). */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_BUILDER_H
#define HARRAY_LAYOUT_IMPL_MAPPING_BUILDER_H

#include "layout_text.h"

/* What a layout is for: some leaves, with indices in some order. */
typedef struct ha_layout_part {
    const int32_t *leaf;
    int64_t leaves;
    int bytes; /* 1: the leaves are bytes of the record's leaves */
    int32_t
        dimension[HA_MAPPING_RANK]; /* index k of the layout is index dimension[k] of the record */
} ha_layout_part;

/* A mapping while it is made; there is room for as many of each as the record has leaves, and bytes of
 * those that are stored byte by byte: these are leaves, too, behind the record's. */
typedef struct ha_builder {
    const ha_asked *asked;
    const char *origin;  /* of the text; NULL: layouts by functions */
    ha_leaf *leaf;       /* their scalars are what is stored */
    ha_coding *coding;   /* of the record's leaves */
    int64_t room, bytes; /* leaves there is room for; how many are bytes */
    ha_mapping *mapping; /* only what is counted, until it is complete */
    ha_row *row;
    ha_linearizer *linearizer;
    ha_section *section;
    ha_blob *blob;
    int8_t *is_chosen; /* for each leaf: by the split that looks at it */
    int32_t *spare;    /* for lists of leaves, from the level of layouts that works on */
    int32_t into;      /* blob that the next section goes into; -1: a new one */
    ha_branch *branch; /* of trees: as many as there may be leaves */
    ha_tree_step *tree_step;
    ha_tree *tree;
    int64_t trees, tree_room; /* how many trees there are; steps for each branch of them */
    ha_status (*build)(struct ha_builder *b, const ha_layout *layout, const ha_layout_part *part,
                       int64_t *offset); /* of any kind of layout: that of build.h */
} ha_builder;

/* ---- refusing -------------------------------------------------------------------------------- */

HA_IN_ int64_t ha_position_of(const ha_builder *b, const ha_layout *layout) {
    return b->origin ? ((const ha_layout_node *)(const void *)layout)->position : 0;
}

HA_IN_ ha_status ha_refuse_layout(const ha_builder *b, int64_t position, const char *why) {
    return b->origin ? ha_refuse(b->asked, HA_ERR_ARGUMENT, position, "at character %lld: %s",
                                 (long long)position, why)
                     : ha_refuse(b->asked, HA_ERR_ARGUMENT, 0, "%s", why);
}

/* How many layouts are inside one of this kind. */
HA_IN_ int ha_layouts_inside(ha_layout_kind kind) {
    if (kind == HA_LAYOUT_SPLIT) return 2;
    return kind > HA_LAYOUT_NULL && kind != HA_LAYOUT_TREE;
}

HA_IN_ const char *ha_flags_mistake(const ha_layout *layout) {
    const uint32_t flags = layout->flags;
    uint32_t allowed = layout->kind == HA_LAYOUT_SPLIT ? (uint32_t)HA_LAYOUT_SEPARATE : 0;
    for (size_t k = 0; k < HA_ENTRIES_(ha_layout_options); k++) {
        const struct ha_layout_option *o = &ha_layout_options[k];
        if (o->kind != layout->kind) continue;
        allowed |= o->flag;
        if ((flags & o->flag) != 0 && ((flags & o->with) != o->with || (flags & o->without) != 0))
            return "these flags exclude each other";
    }
    return (flags & ~allowed) != 0 ? "a flag does not fit the kind of layout" : NULL;
}

HA_IN_ int ha_are_changes(const char *text) {
    const ha_asked nobody = {0};
    ha_reader r = {.text = text, .at = text, .asked = &nobody};
    return !ha_read_changes(&r) && !*r.at;
}

HA_IN_ const char *ha_computed_mistake(const ha_layout *layout) {
    const int is_int = layout->kind == HA_LAYOUT_BITINT;
    const int is_float = layout->kind == HA_LAYOUT_BITFLOAT;
    const int is_change = layout->kind == HA_LAYOUT_CHANGETYPE;
    if (is_change ? !layout->changes || !ha_are_changes(layout->changes) : !!layout->changes)
        return "the changes are none, or do not fit the kind of layout";
    if (is_int ? layout->bits < 1 || layout->bits > 64 : layout->bits != 0)
        return "the number of bits does not fit the kind of layout";
    if (is_float ? layout->exponent < 1 || layout->exponent > 11 || layout->mantissa < 0 ||
                       layout->mantissa > 52
                 : layout->exponent != 0 || layout->mantissa != 0)
        return "the bits of exponent or mantissa do not fit the kind of layout";
    if ((is_int || is_float) &&
        ((layout->first->kind != HA_LAYOUT_AOS && layout->first->kind != HA_LAYOUT_SOA) ||
         layout->first->flags != 0))
        return HA_BITS_INSIDE_;
    return NULL;
}

/* Of layouts by functions: what text cannot say. */
HA_IN_ const char *ha_layout_mistake(const ha_layout *layout, int rank) {
    const int is_leaf = layout->kind <= HA_LAYOUT_ONE;
    int inside, seen = 0;
    const char *mistake;
    if (!ha_layout_kind_name(layout->kind)) return "there is no such kind of layout";
    mistake = ha_flags_mistake(layout);
    if (mistake) return mistake;
    inside = ha_layouts_inside(layout->kind);
    if ((unsigned)layout->order > HA_MORTON || (!is_leaf && layout->order))
        return "the order does not fit the kind of layout";
    if (layout->order == HA_MORTON && (layout->flags & HA_LAYOUT_ROWS) != 0)
        return "in Morton order there are no rows";
    if (layout->kind == HA_LAYOUT_HEATMAP ? layout->lanes < 0 || layout->lanes > HA_LARGEST_GRANULE
        : layout->kind == HA_LAYOUT_AOSOA ? layout->lanes < 1
                                          : layout->lanes != 0)
        return "the number of lanes does not fit the kind of layout";
    if (!layout->first != (inside < 1))
        return "a layout inside is missing, or does not fit the kind of layout";
    if (!layout->second != (inside < 2) || !layout->paths != (layout->kind != HA_LAYOUT_SPLIT))
        return "the second layout or the paths are missing, or do not fit the kind of layout";
    for (int d = 0; d < rank && layout->kind == HA_LAYOUT_PERMUTE; d++) {
        if (layout->dimension[d] < 0 || layout->dimension[d] >= rank) return "no such dimension";
        seen |= 1 << layout->dimension[d];
    }
    if (seen && seen != (1 << rank) - 1) return "a dimension is there twice";
    if (layout->kind != HA_LAYOUT_TREE && layout->functors)
        return "functors do not fit the kind of layout";
    return ha_computed_mistake(layout);
}

/* Of those: does what counts stand outside of all others, and each of both once? */
HA_IN_ const char *ha_inside_mistake(const ha_layout *layout) {
    const int counts = ha_is_instrument(layout->kind);
    const ha_layout *in = layout->first, *other = layout->second;
    if (counts && in->kind == layout->kind) return "an instrument is there twice";
    if (counts && ha_is_instrument(in->kind) && in->first && in->first->kind == layout->kind)
        return "an instrument is there twice";
    if (!counts && ((in && ha_is_instrument(in->kind)) || (other && ha_is_instrument(other->kind))))
        return "an instrument has to stand outside of other layouts";
    return NULL;
}

enum { HA_MOST_LAYOUTS = 65536 }; /* in a tree: a graph may unfold to no end */

/* Is the whole tree of layouts right, as far as this can be said without the record? */
HA_IN_ ha_status ha_check_layout(const ha_builder *b, const ha_layout *layout, int rank, int depth,
                                 int *layouts) {
    const char *mistake = depth == HA_LAYOUT_DEPTH || ++*layouts > HA_MOST_LAYOUTS
                              ? "there are too many layouts inside others"
                              : ha_layout_mistake(layout, rank);
    ha_status s = HA_OK;
    if (!mistake) mistake = ha_inside_mistake(layout);
    if (mistake) return ha_refuse_layout(b, ha_position_of(b, layout), mistake);
    if (layout->first) s = ha_check_layout(b, layout->first, rank, depth + 1, layouts);
    if (!s && layout->second) s = ha_check_layout(b, layout->second, rank, depth + 1, layouts);
    return s;
}

/* ---- linearizers ----------------------------------------------------------------------------- */

HA_IN_ ha_status ha_strides(const ha_builder *b, ha_linearizer *l) {
    const int64_t *extent = b->mapping->extent;
    int64_t count = 1;
    for (int k = l->rank; k-- > 0;) {
        const int32_t d = l->dimension[k];
        int64_t padded = extent[d];
        if (k == l->rank - 1 && !ha_round_to(padded, l->pad, &padded)) return ha_too_large(b->asked);
        l->stride[d] = count;
        if (!ha_product(count, padded, &count)) return ha_too_large(b->asked);
    }
    l->count = count;
    return HA_OK;
}

HA_IN_ ha_status ha_morton(const ha_builder *b, ha_linearizer *l, int empty) {
    int64_t largest = 1;
    int bits = 0;
    for (int d = 0; d < l->rank; d++) largest = ha_larger(largest, b->mapping->extent[d]);
    while (bits < 62 && (int64_t)1 << bits < largest) bits++;
    if (!empty && (bits * l->rank > 62 || (int64_t)1 << bits < largest)) return ha_too_large(b->asked);
    l->morton = 1;
    l->count = empty ? 0 : (int64_t)1 << bits * l->rank;
    for (int k = 0; k < l->rank; k++) l->stride[l->dimension[k]] = l->rank - 1 - k;
    return HA_OK;
}

HA_IN_ int ha_same_linearizer(const ha_linearizer *x, const ha_linearizer *y) {
    int same = x->morton == y->morton && x->pad == y->pad;
    for (int d = 0; d < HA_MAPPING_RANK; d++)
        same = same && x->dimension[d] == y->dimension[d] && x->stride[d] == y->stride[d];
    return same; /* all have the same extents */
}

/* The number of the linearizer for a layout. */
HA_IN_ ha_status ha_add_linearizer(ha_builder *b, const ha_layout *layout,
                                   const ha_layout_part *part, int32_t *number) {
    ha_mapping *m = b->mapping;
    ha_linearizer *l = &b->linearizer[m->linearizers];
    int empty = 0;
    ha_status s = HA_OK;
    memset(l, 0, sizeof *l);
    l->rank = m->rank;
    l->pad = (layout->flags & HA_LAYOUT_ROWS) != 0 ? layout->lanes : 1;
    for (int k = 0; k < m->rank; k++) {
        const int from = layout->order == HA_COL ? m->rank - 1 - k : k;
        l->dimension[k] = part->dimension[from];
        empty |= m->extent[k] == 0;
    }
    if (layout->order == HA_MORTON)
        s = ha_morton(b, l, empty);
    else if (!empty)
        s = ha_strides(b, l); /* else they are 0: the other extents may be anything */
    if (s) return s;
    for (*number = 0; *number < m->linearizers; ++*number)
        if (ha_same_linearizer(&b->linearizer[*number], l)) return HA_OK;
    m->linearizers++;
    return HA_OK;
}

/* ---- sections and rows ------------------------------------------------------------------------- */

/* A new section, in the blob that is open or in a new one, which is open from then on. */
HA_IN_ ha_section *ha_add_section(ha_builder *b, int32_t linearizer, int64_t lanes, int64_t bytes,
                                  int64_t alignment) {
    ha_mapping *m = b->mapping;
    ha_section *p = &b->section[m->sections++];
    if (b->into < 0) {
        b->into = m->blobs++;
        b->blob[b->into] = (ha_blob){.bytes = 0, .alignment = 1};
    }
    *p = (ha_section){.blob = b->into,
                      .linearizer = linearizer,
                      .lanes = lanes,
                      .bytes = bytes,
                      .alignment = alignment};
    return p;
}

/* A leaf in the section that was added last. */
HA_IN_ void ha_add_row(ha_builder *b, int32_t leaf, int64_t offset, int64_t lane_stride) {
    const int32_t number = b->mapping->sections - 1;
    const ha_section *p = &b->section[number];
    const int64_t alignment = (int64_t)ha_dtype_alignment(b->leaf[leaf].type);
    ha_blob *blob = &b->blob[p->blob];
    blob->alignment = ha_larger(blob->alignment, alignment);
    b->row[leaf] = (ha_row){.blob = p->blob,
                            .linearizer = p->linearizer,
                            .lane_stride = lane_stride,
                            .block_stride = p->lanes > 0 ? p->bytes : 0,
                            .lanes = ha_larger(p->lanes, 1),
                            .section = number,
                            .offset = offset};
}

/* ---- structs of leaves ----------------------------------------------------------------------- */

/* Sums up a struct of leaves in their order, and tells where each is. All numbers are small: at most
 * HA_MOST_LEAVES leaves of at most 32 bytes each. */
typedef struct ha_struct {
    int64_t size, alignment;
} ha_struct;

HA_IN_ int64_t ha_struct_add(ha_struct *s, ha_dtype scalar, int packed) {
    const int64_t alignment = packed ? 1 : (int64_t)ha_dtype_alignment(scalar);
    const int64_t offset = (s->size + alignment - 1) / alignment * alignment;
    s->size = offset + (int64_t)ha_dtype_size(scalar);
    s->alignment = ha_larger(s->alignment, alignment);
    return offset;
}

/* Goes through the leaves; with minalign first through those of alignment 1, then 2, and so on. */
HA_IN_ ha_struct ha_struct_of(const ha_builder *b, const ha_layout_part *part, uint32_t flags,
                              int64_t *offset) {
    const int packed = (flags & HA_LAYOUT_PACKED) != 0;
    const int sorted = (flags & HA_LAYOUT_MINALIGN) != 0;
    ha_struct s = {0, 1};
    for (int64_t alignment = 1; alignment <= 8; alignment *= sorted ? 2 : 16)
        for (int64_t k = 0; k < part->leaves; k++) {
            const ha_dtype scalar = b->leaf[part->leaf[k]].type;
            if (!sorted || (int64_t)ha_dtype_alignment(scalar) == alignment)
                offset[k] = ha_struct_add(&s, scalar, packed);
        }
    return s;
}

HA_IN_ int64_t ha_padded_size(ha_struct s) {
    return (s.size + s.alignment - 1) / s.alignment * s.alignment;
}

/* ---- each kind of layout --------------------------------------------------------------------- */

/* aos and one of whole records: the C struct, of which "one" needs no more than its last leaf. */
HA_IN_ void ha_build_c_structs(ha_builder *b, const ha_layout_part *part, int32_t linearizer,
                               int one) {
    const ha_record *record = b->mapping->record;
    int64_t end = 0;
    for (int64_t k = 0; k < part->leaves; k++) {
        const ha_leaf *leaf = &b->leaf[part->leaf[k]];
        end = ha_larger(end, leaf->offset + (int64_t)ha_dtype_size(leaf->type));
    }
    ha_add_section(b, linearizer, one ? 0 : 1, one ? end : record->size, record->alignment);
    for (int64_t k = 0; k < part->leaves; k++)
        ha_add_row(b, part->leaf[k], b->leaf[part->leaf[k]].offset, one ? 0 : record->size);
}

/* aos, one, and aosoa: a struct of all leaves, times the lanes. */
HA_IN_ ha_status ha_build_structs(ha_builder *b, const ha_layout *layout,
                                  const ha_layout_part *part, int32_t linearizer, int64_t *offset) {
    const int one = layout->kind == HA_LAYOUT_ONE, blocks = layout->kind == HA_LAYOUT_AOSOA;
    const int packed = blocks ? (layout->flags & HA_LAYOUT_ALIGNED) == 0 : 0;
    const uint32_t flags = blocks ? (packed ? HA_LAYOUT_PACKED : 0) : layout->flags;
    const ha_struct s = ha_struct_of(b, part, flags, offset);
    const int64_t lanes = blocks ? layout->lanes : 1;
    int64_t bytes;
    if (!ha_product(one ? s.size : ha_padded_size(s), lanes, &bytes)) return ha_too_large(b->asked);
    ha_add_section(b, linearizer, one ? 0 : lanes, bytes, s.alignment);
    for (int64_t k = 0; k < part->leaves; k++) {
        const int64_t size = (int64_t)ha_dtype_size(b->leaf[part->leaf[k]].type);
        ha_add_row(b, part->leaf[k], offset[k] * lanes, one ? 0 : blocks ? size : bytes);
    }
    return HA_OK;
}

/* soa: a section for each leaf. */
HA_IN_ void ha_build_arrays(ha_builder *b, const ha_layout *layout, const ha_layout_part *part,
                            int32_t linearizer) {
    const int single = (layout->flags & HA_LAYOUT_SINGLE) != 0;
    const int packed = single && (layout->flags & HA_LAYOUT_ALIGNED) == 0;
    for (int64_t k = 0; k < part->leaves; k++) {
        const ha_dtype scalar = b->leaf[part->leaf[k]].type;
        const int64_t size = (int64_t)ha_dtype_size(scalar);
        if (k > 0 && !single) b->into = -1;
        ha_add_section(b, linearizer, 1, size, packed ? 1 : (int64_t)ha_dtype_alignment(scalar));
        ha_add_row(b, part->leaf[k], 0, size);
    }
}

/* soa(fields): a section for the leaves of each field, as a struct of them. */
HA_IN_ void ha_build_fields(ha_builder *b, const ha_layout_part *part, int32_t linearizer,
                            int64_t *offset) {
    ha_layout_part one = *part;
    for (int64_t k = 0; k < part->leaves; k += one.leaves) {
        const int64_t field = b->leaf[part->leaf[k]].field;
        one.leaf = part->leaf + k;
        one.leaves = 1;
        while (k + one.leaves < part->leaves && b->leaf[one.leaf[one.leaves]].field == field)
            one.leaves++;
        const ha_struct s = ha_struct_of(b, &one, 0, offset);
        const int64_t bytes = ha_padded_size(s);
        if (k > 0) b->into = -1;
        ha_add_section(b, linearizer, 1, bytes, s.alignment);
        for (int64_t e = 0; e < one.leaves; e++)
            ha_add_row(b, one.leaf[e], offset[e], bytes);
    }
}

/* Is it the whole record, as it is in C? */
HA_IN_ int ha_is_c_struct(const ha_builder *b, const ha_layout_part *part) {
    int whole = part->leaves == b->mapping->rows && !part->bytes;
    for (int64_t k = 0; k < part->leaves && whole; k++) {
        const ha_leaf *leaf = &b->leaf[part->leaf[k]];
        whole = leaf->type == b->mapping->record->field[leaf->field].type;
    }
    return whole;
}

HA_IN_ ha_status ha_build_leaf_layout(ha_builder *b, const ha_layout *layout,
                                      const ha_layout_part *part, int64_t *offset) {
    int32_t linearizer;
    const ha_status s = ha_add_linearizer(b, layout, part, &linearizer);
    const int whole = ha_is_c_struct(b, part);
    if (s) return s;
    if (layout->flags & HA_LAYOUT_FIELDS) {
        ha_build_fields(b, part, linearizer, offset);
    } else if (layout->kind == HA_LAYOUT_SOA) {
        ha_build_arrays(b, layout, part, linearizer);
    } else if (layout->kind != HA_LAYOUT_AOSOA && layout->flags == 0 && whole) {
        ha_build_c_structs(b, part, linearizer, layout->kind == HA_LAYOUT_ONE);
    } else {
        return ha_build_structs(b, layout, part, linearizer, offset);
    }
    return HA_OK;
}

HA_IN_ void ha_build_null(ha_builder *b, const ha_layout_part *part) {
    for (int64_t k = 0; k < part->leaves; k++)
        b->row[part->leaf[k]] = (ha_row){.blob = -1, .lanes = 1, .section = -1};
}

HA_IN_ ha_status ha_build_permuted(ha_builder *b, const ha_layout *layout,
                                   const ha_layout_part *part, int64_t *offset) {
    ha_layout_part inner = *part;
    for (int k = 0; k < b->mapping->rank; k++)
        inner.dimension[k] = part->dimension[layout->dimension[k]];
    return b->build(b, layout->first, &inner, offset);
}

#endif
