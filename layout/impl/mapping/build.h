/* Any layout, by its kind: all that builds a table stands below this. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_BUILD_H
#define HARRAY_LAYOUT_IMPL_MAPPING_BUILD_H

#include "computed.h"
#include "split.h"
#include "tree_build.h"

HA_IN_ ha_status ha_build(ha_builder *b, const ha_layout *layout, const ha_layout_part *part,
                          int64_t *offset) {
    switch (layout->kind) {
    case HA_LAYOUT_NULL:
        ha_build_null(b, part);
        return HA_OK;
    case HA_LAYOUT_SPLIT:
        return ha_build_split(b, layout, part, offset);
    case HA_LAYOUT_PERMUTE:
        return ha_build_permuted(b, layout, part, offset);
    case HA_LAYOUT_TREE:
        return ha_build_tree(b, layout, part);
    case HA_LAYOUT_COUNT:
    case HA_LAYOUT_HEATMAP:
        return ha_build(b, layout->first, part, offset);
    case HA_LAYOUT_CHANGETYPE:
        return ha_build_changed(b, layout, part, offset);
    case HA_LAYOUT_BYTESWAP:
        return ha_build_swapped(b, layout, part, offset);
    case HA_LAYOUT_BYTESPLIT:
        return ha_build_bytes(b, layout, part, offset);
    case HA_LAYOUT_BITINT:
    case HA_LAYOUT_BITFLOAT:
        return ha_build_bits(b, layout, part);
    default:
        return ha_build_leaf_layout(b, layout, part, offset);
    }
}

#endif
