/* The layout "split": which leaves go where, and what shares a blob. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_SPLIT_H
#define HARRAY_LAYOUT_IMPL_MAPPING_SPLIT_H

#include "builder.h"

/* Marks the leaves below one path; 0: there are none. */
HA_IN_ int ha_choose(const ha_builder *b, const ha_layout_part *part, const char *path,
                     const char *end) {
    int found = 0;
    for (int64_t k = 0; k < part->leaves; k++)
        if (ha_leaf_below(b->mapping->record, &b->leaf[part->leaf[k]], path, end)) {
            b->is_chosen[part->leaf[k]] = 1;
            found = 1;
        }
    return found;
}

/* Marks the leaves below all paths, "pos + vel". */
HA_IN_ ha_status ha_choose_all(const ha_builder *b, const ha_layout *layout,
                               const ha_layout_part *part) {
    for (const char *p = layout->paths, *path, *end; p;)
        if (!ha_next_path(&p, &path, &end) || path == end || !ha_choose(b, part, path, end))
            return ha_refuse_layout(b, b->origin ? path - b->origin : 0,
                                    "there is no such field here");
    return HA_OK;
}

/* Do all sections from this one on lie in one blob? */
HA_IN_ int ha_one_blob(const ha_builder *b, int32_t first) {
    for (int32_t p = first + 1; p < b->mapping->sections; p++)
        if (b->section[p].blob != b->section[first].blob) return 0;
    return 1;
}

/* The second part begins at a multiple of the alignment of all that is in it. */
HA_IN_ void ha_align_part(ha_builder *b, int32_t first) {
    for (int32_t p = first + 1; p < b->mapping->sections; p++)
        b->section[first].alignment = ha_larger(b->section[first].alignment,
                                                b->section[p].alignment);
}

HA_IN_ ha_status ha_build_parts(ha_builder *b, const ha_layout *layout, const ha_layout_part *first,
                                const ha_layout_part *second, int64_t *offset) {
    const int separate = (layout->flags & HA_LAYOUT_SEPARATE) != 0;
    const int32_t begin = b->mapping->sections;
    int32_t middle;
    ha_status s = b->build(b, layout->first, first, offset);
    if (s) return s;
    middle = b->mapping->sections;
    if (separate && middle > begin) b->into = -1;
    s = b->build(b, layout->second, second, offset);
    if (s) return s;
    if (separate || middle == begin || middle == b->mapping->sections) return HA_OK;
    if (!ha_one_blob(b, begin))
        return ha_refuse_layout(b, ha_position_of(b, layout),
                                "a part of this has several blobs: it needs \"separate;\"");
    ha_align_part(b, middle);
    return HA_OK;
}

/* The chosen leaves first, then the others; both in the order that they had. */
HA_IN_ ha_status ha_build_split(ha_builder *b, const ha_layout *layout, const ha_layout_part *part,
                                int64_t *offset) {
    int32_t *list = b->spare;
    ha_layout_part first = *part, second = *part;
    ha_status s;
    memset(b->is_chosen, 0, (size_t)b->room);
    s = ha_choose_all(b, layout, part);
    if (s) return s;
    first.leaf = list;
    first.leaves = 0;
    for (int64_t k = 0; k < part->leaves; k++)
        if (b->is_chosen[part->leaf[k]]) list[first.leaves++] = part->leaf[k];
    second.leaf = list + first.leaves;
    second.leaves = 0;
    for (int64_t k = 0; k < part->leaves; k++)
        if (!b->is_chosen[part->leaf[k]]) list[first.leaves + second.leaves++] = part->leaf[k];
    if (second.leaves == 0)
        return ha_refuse_layout(b, ha_position_of(b, layout),
                                "this split leaves no field for the second layout");
    b->spare += part->leaves;
    s = ha_build_parts(b, layout, &first, &second, offset);
    b->spare = list;
    return s;
}

#endif
