/* Uses what layout.h has, in the subset that C11, C++17 and CUDA share. */
#include "layout_user.h"

#include <layout.h>

#include "layout_views.h"

static int use_record(const ha_record *record) {
    ha_error error;
    ha_leaf leaf;
    char name[20];
    int64_t first = 0;
    int failed = ha_record_check(record, &error) != HA_OK;
    failed += ha_record_leaves(record) != 5;
    failed += ha_record_leaf(record, 3, &leaf) != HA_OK || leaf.offset != 13;
    failed += ha_record_leaf_name(record, 3, name, sizeof name) != 8;
    failed += ha_record_find(record, "flags", 0, &first) != HA_OK || first != 2;
    failed += ha_record_lanes(record, 64) != 8;
    return failed;
}

static int use_mapping(const ha_mapping *m) {
    const int64_t at[] = {1, 2};
    char text[8];
    ha_error error;
    ha_run_of_values run;
    int failed = ha_mapping_check(m, &error) != HA_OK;
    failed += ha_mapping_offset(m, 1, at) != 2 * 60 + 32 + 2 * 4; /* rows of 2 blocks */
    failed += ha_mapping_run_of_values(m, 1, at, &run) != HA_OK || run.count != 2;
    failed += ha_mapping_json(m, at, text, sizeof text) < 100;
    failed += ha_mapping_device_text(m, "sky", text, sizeof text) < 100;
    failed += ha_mapping_svg(m, text, sizeof text) < 100;
    return failed;
}

int use_layouts(void) {
    const int64_t extent[] = {3, 5};
    const ha_dtype scalars[] = {HA_DTYPE_OF(float), HA_DTYPE_OF(ha_half), HA_DTYPE_OF(void *)};
    ha_layout layout;
    ha_error error;
    ha_record *record = ha_record_parse("x:f64 mass:f32 flags[3]:bool", &error);
    ha_mapping *parsed = ha_mapping_parse(record, "aosoa(4,rows)", 2, extent, &error);
    memset(&layout, 0, sizeof layout);
    layout.kind = HA_LAYOUT_AOSOA;
    layout.lanes = 4;
    layout.flags = HA_LAYOUT_ROWS;
    ha_mapping *made = ha_mapping_new(record, &layout, 2, extent, &error);
    int failed = scalars[0] != HA_DTYPE_float || scalars[1] != HA_DTYPE_half ||
                 scalars[2] != HA_DTYPE_NONE;
    failed += record == HA_NULL_ || parsed == HA_NULL_ || made == HA_NULL_;
    if (failed == 0) failed = use_record(record) + use_mapping(parsed) + use_mapping(made);
    ha_mapping_free(made);
    ha_mapping_free(parsed);
    ha_record_free(record);
    return failed + use_sample() + use_layouts_of_views();
}
