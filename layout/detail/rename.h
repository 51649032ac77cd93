/* Included where HARRAY_PREFIX is defined: puts it in front of every external name.
 *
 * Made by tools/rename from the declarations with HA_API; do not edit. */
#ifndef HARRAY_LAYOUT_DETAIL_RENAME_H
#define HARRAY_LAYOUT_DETAIL_RENAME_H

#define HA_RENAME_(name) HA_JOIN_(HARRAY_PREFIX, name) /* of layout/status.h */

#define ha_advice_text HA_RENAME_(ha_advice_text)
#define ha_counts_json HA_RENAME_(ha_counts_json)
#define ha_counts_parse HA_RENAME_(ha_counts_parse)
#define ha_counts_svg HA_RENAME_(ha_counts_svg)
#define ha_counts_text HA_RENAME_(ha_counts_text)
#define ha_layout_advise HA_RENAME_(ha_layout_advise)
#define ha_mapped_apply_number HA_RENAME_(ha_mapped_apply_number)
#define ha_mapped_apply_record HA_RENAME_(ha_mapped_apply_record)
#define ha_mapped_apply_scalar HA_RENAME_(ha_mapped_apply_scalar)
#define ha_mapped_apply_view HA_RENAME_(ha_mapped_apply_view)
#define ha_mapped_copy HA_RENAME_(ha_mapped_copy)
#define ha_mapped_free HA_RENAME_(ha_mapped_free)
#define ha_mapped_get HA_RENAME_(ha_mapped_get)
#define ha_mapped_get_run HA_RENAME_(ha_mapped_get_run)
#define ha_mapped_set HA_RENAME_(ha_mapped_set)
#define ha_mapped_set_run HA_RENAME_(ha_mapped_set_run)
#define ha_mapping_check HA_RENAME_(ha_mapping_check)
#define ha_mapping_device_text HA_RENAME_(ha_mapping_device_text)
#define ha_mapping_free HA_RENAME_(ha_mapping_free)
#define ha_mapping_json HA_RENAME_(ha_mapping_json)
#define ha_mapping_memory HA_RENAME_(ha_mapping_memory)
#define ha_mapping_new HA_RENAME_(ha_mapping_new)
#define ha_mapping_parse HA_RENAME_(ha_mapping_parse)
#define ha_mapping_run_of_values HA_RENAME_(ha_mapping_run_of_values)
#define ha_mapping_svg HA_RENAME_(ha_mapping_svg)
#define ha_mapping_tree_text HA_RENAME_(ha_mapping_tree_text)
#define ha_no_case_ HA_RENAME_(ha_no_case_)
#define ha_record_all_leaves_ HA_RENAME_(ha_record_all_leaves_)
#define ha_record_below_ HA_RENAME_(ha_record_below_)
#define ha_record_check HA_RENAME_(ha_record_check)
#define ha_record_find HA_RENAME_(ha_record_find)
#define ha_record_free HA_RENAME_(ha_record_free)
#define ha_record_lanes HA_RENAME_(ha_record_lanes)
#define ha_record_leaf HA_RENAME_(ha_record_leaf)
#define ha_record_leaf_name HA_RENAME_(ha_record_leaf_name)
#define ha_record_leaves HA_RENAME_(ha_record_leaves)
#define ha_record_parse HA_RENAME_(ha_record_parse)
#define ha_record_sort_ HA_RENAME_(ha_record_sort_)
#define ha_view_apply_ HA_RENAME_(ha_view_apply_)
#define ha_view_differs_ HA_RENAME_(ha_view_differs_)
#define ha_view_mapped_ HA_RENAME_(ha_view_mapped_)
#define ha_view_match_ HA_RENAME_(ha_view_match_)
#define ha_view_memory_ HA_RENAME_(ha_view_memory_)
#define ha_view_split_mapped_ HA_RENAME_(ha_view_split_mapped_)

#endif
