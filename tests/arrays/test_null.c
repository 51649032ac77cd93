/* Every function that takes a pointer, with NULL for it: what has to be there is refused, and says so;
 * where NULL means something, it is that. test_null.py looks that no function is missing here. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/refusals.h"

typedef struct pair {
    double x;
    int32_t n;
} pair;
#define pair_FIELDS (double, x), (int32_t, n)
HA_RECORD(pair)
HA_VIEW(duo, pair, 1, HA_ANY)
HA_RECORDS(pairs, duo);

static harray_double line;
static darray table;
static pairs records;
static duo view;
static pair one_pair;
static ha_read_darray open_table;
static ha_access closed;
static ha_records_access open_records, no_records;
static ha_token token, held;
static int64_t number;
static const int64_t two_by_two[] = {2, 2};
static const double four[] = {1, 2, 3, 4};
static void *volatile nowhere; /* so that no compiler knows, and warns */

#define D HA_DTYPE_double
#define T harray_double_type()
#define ONE ha_dvalue_of_double(1)
#define NO_VIEW ((darray){.rank = 0})
#define SHAPE 2, two_by_two
#define ACCESS HA_ACCESS_(&open_table)
#define SITE "tests"
#define NO nowhere
#define ALL ha_records_rows_(0, HA_END)

static void nothing(const ha_queue *queue, void *argument) { (void)queue, (void)argument; }

/* ---- refused: S(name, call) returns HA_ERR_ARGUMENT ------------------------------------------ */

#define ACCESSES(S)                                                                                \
    S(open, ha_open_(NO, line.array, NO, HA_READ, 0, HA_END, SITE))                                \
    S(overwrite, ha_overwrite_(NO, line.array, NO, 1, HA_WAIT, SITE))                              \
    S(open_any, ha_open_any_(NO, sizeof open_table, &table, sizeof table, NO, HA_READ, SITE))      \
    S(open_many, ha_open_many_(NO, 1, SITE))                                                       \
    S(close_many, ha_close_many((const ha_request *)NO, 1))                                        \
    S(read_anywhere, ha_read_anywhere_(NO, line.array, NO, HA_READ, 0, HA_END, SITE))              \
    S(read_any, ha_read_anywhere_any_(NO, sizeof open_table, &table, sizeof table, SITE))          \
    S(span_of, ha_span_of_(NO, sizeof open_table, &table, sizeof table))                           \
    S(close, ha_close_(NO))                                                                        \
    S(move_from, ha_move_(&closed, sizeof closed, NO, sizeof closed))                              \
    S(move_to, ha_move_(NO, sizeof closed, ACCESS, sizeof closed))                                 \
    S(resize, ha_access_resize_(NO, 1, SITE))                                                      \
    S(reserve, ha_access_reserve_(NO, 1, SITE))                                                    \
    S(wait, ha_wait_(NO, SITE))                                                                    \
    S(run, ha_run_(nothing, NO, 0, SITE, SITE))                                                    \
    S(run_nothing, ha_run_(NULL, ACCESS, sizeof open_table, SITE, SITE))                           \
    S(detach_nothing, ha_detach_(&token, NO, SITE))                                                \
    S(detach_nowhere, ha_detach_(NO, ACCESS, SITE))                                                \
    S(finish, ha_token_finish(NO))                                                                 \
    S(token_wait, ha_token_wait(NO))                                                               \
    S(end_at, ha_token_end_at(NO, NO))                                                             \
    S(end_after, ha_token_end_after(NO, NO, NO))                                                   \
    S(opencl_argument, ha_opencl_argument(NO, 0, NO))

#define ARRAYS(S)                                                                                  \
    S(get, ha_array_get(line.array, 0, NO))                                                        \
    S(get_of, ha_array_get(NO, 0, &number))                                                        \
    S(set, ha_array_set(line.array, 0, NO))                                                        \
    S(set_of, ha_array_set(NO, 0, &number))                                                        \
    S(array_resize, ha_array_resize(NO, 1))                                                        \
    S(array_reserve, ha_array_reserve(NO, NO, 1))                                                  \
    S(shell, darray_shell_(table, NO, two_by_two, NO, SITE))                                       \
    S(pin, ha_array_pin(NO, NO))                                                                   \
    S(copy_bytes, ha_copy_(NO, NO, &number, NO, sizeof number, SITE))                              \
    S(start_bytes, ha_copy_start_(NO, NO, NO, &number, NO, sizeof number, SITE))                   \
    S(bytes_out, ha_copy_out_(NO, NO, &number, sizeof number, SITE))                               \
    S(clear, ha_array_clear(NO))                                                                   \
    S(purge, ha_array_purge(NO))                                                                   \
    S(evict, ha_array_evict_(NO, NO, NO))                                                          \
    S(set_priority, ha_array_set_priority(NO, 0))                                                  \
    S(swap, ha_array_swap(line.array, NO))                                                         \
    S(assign, ha_array_assign(line.array, NO))                                                     \
    S(assign_at, ha_array_assign_at(NO, line.array, NO))                                           \
    S(take, ha_array_take(line.array, NO))                                                         \
    S(prefetch, ha_array_prefetch_(NO, NO, 0, HA_END, SITE))                                       \
    S(set_release, ha_array_set_release(line.array, NULL, NO))                                     \
    S(sync, ha_sync_(NO, SITE))                                                                    \
    S(enqueue, ha_enqueue_(NO, NULL, NO, 0, SITE, SITE))                                           \
    S(enqueue_argument, ha_enqueue_(NO, nothing, NO, 8, SITE, SITE))                               \
    S(unfork, ha_context_unfork(NO))                                                               \
    S(run_with, ha_run_with_(NO, NULL, NO, 0, NO, 0, SITE, SITE))                                  \
    S(run_with_argument, ha_run_with_(NO, nothing, NO, 8, NO, 0, SITE, SITE))                      \
    S(run_with_uses, ha_run_with_(NO, nothing, &number, 8, NO, 1, SITE, SITE))                     \
    S(cuda_launch, ha_cuda_launch_with_(NO, NO, NO, &number, 8, NO, 0, SITE, SITE))                \
    S(precompile, ha_kernels_precompile_(NO, NO, NO, NO, SITE))                                    \
    S(map, ha_map_(HA_SQRT, NO_VIEW, NO_VIEW, NO, SITE))                                           \
    S(combine, ha_combine_(HA_ADD, NO_VIEW, NO_VIEW, NO_VIEW, NO, SITE))                           \
    S(combine_number, ha_combine_number_(HA_ADD, NO_VIEW, NO_VIEW, ONE, NO, SITE))                 \
    S(axpby, ha_axpby_(NO_VIEW, ONE, NO_VIEW, ONE, NO_VIEW, NO, SITE))                             \
    S(axpy, ha_axpy_(NO_VIEW, ONE, NO_VIEW, NO, SITE))                                             \
    S(clip, ha_clip_(NO_VIEW, NO_VIEW, ONE, ONE, NO, SITE))                                        \
    S(where, ha_where_(NO_VIEW, NO_VIEW, NO_VIEW, NO_VIEW, NO, SITE))                              \
    S(sequence, ha_sequence_(NO_VIEW, ONE, ONE, NO, SITE))                                         \
    S(random, ha_random_(NO_VIEW, 1, NO, SITE))                                                    \
    S(random_normal, ha_random_normal_(NO_VIEW, 1, NO, SITE))                                      \
    S(reduce, ha_reduce_(HA_SUM, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))                          \
    S(count, ha_count_elements_(NO_VIEW, HA_DTYPE_double, NO, NO, SITE))                           \
    S(dot, ha_dot_(NO_VIEW, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))                               \
    S(norm, ha_norm_(HA_NORM_2, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))                           \
    S(difference, ha_difference_(HA_NORM_2, NO_VIEW, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))      \
    S(reduce_along, ha_reduce_along_(HA_SUM, NO_VIEW, NO_VIEW, 0, NO, SITE))                       \
    S(count_along, ha_count_along_(NO_VIEW, NO_VIEW, 0, NO, SITE))                                 \
    S(scan, ha_scan_(HA_SUM, NO_VIEW, NO_VIEW, 0, HA_INCLUSIVE, NO, SITE))                         \
    S(scan_offsets, ha_scan_offsets_(NO_VIEW, NO_VIEW, NO, SITE))                                  \
    S(differences, ha_differences_(NO_VIEW, NO_VIEW, 0, NO, SITE))                                 \
    S(histogram, ha_histogram_(NO_VIEW, NO_VIEW, 0, 1, HA_DTYPE_int32_t, NO, NO, SITE))            \
    S(sort, ha_sort_(NO_VIEW, HA_ASCENDING, NO, SITE))                                             \
    S(sorting, ha_sorting_(NO_VIEW, NO_VIEW, HA_ASCENDING, NO, SITE))                              \
    S(sort_by_key, ha_sort_by_key_(NO_VIEW, NO_VIEW, HA_ASCENDING, NO, SITE))                      \
    S(sparse_combine, ha_sparse_combine_(HA_ADD, NO_VIEW, NO_VIEW, NO_VIEW, NO_VIEW, NO_VIEW,      \
                                         NO_VIEW, HA_DTYPE_int32_t, NO, NO, SITE))                 \
    S(unique, ha_unique_(NO_VIEW, NO_VIEW, HA_DTYPE_int32_t, NO, NO, SITE))                        \
    S(bound, ha_bound_(NO_VIEW, NO_VIEW, NO_VIEW, 0, NO, SITE))                                    \
    S(gather, ha_gather_(NO_VIEW, NO_VIEW, NO_VIEW, NO, SITE))                                     \
    S(scatter, ha_scatter_(HA_ADD, NO_VIEW, NO_VIEW, NO_VIEW, NO, SITE))                           \
    S(find, ha_find_(NO_VIEW, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))                             \
    S(compact, ha_compact_(NO_VIEW, NO_VIEW, NO_VIEW, HA_DTYPE_double, NO, NO, SITE))              \
    S(inverse, ha_inverse_(NO_VIEW, NO_VIEW, NO, SITE))                                            \
    S(elapsed, ha_elapsed(ha_mark(NO), ha_mark(NO), NO))                                           \
    S(sim_hold, ha_sim_hold(NO))                                                                   \
    S(sim_step, ha_sim_step(NO, 1))                                                                \
    S(sim_fail, ha_sim_fail(NO))                                                                   \
    S(trace, ha_trace_begin(NO))

#define VIEWS(S)                                                                                   \
    S(equal, darray_equal_(table, table, NO, SITE))                                                \
    S(view_get, darray_get_(table, table.rank, two_by_two, NO, SITE))                              \
    S(view_get_at, darray_get_(table, table.rank, NO, (ha_dvalue[]){ONE}, SITE))                   \
    S(view_set_at, darray_set_(table, table.rank, NO, ONE, SITE))                                  \
    S(element, darray_get_element_(table, (int64_t[]){0, 0}, NO))                                  \
    S(set_element, darray_set_element_(table, (int64_t[]){0, 0}, NO))                              \
    S(fill, darray_fill_element_(table, NO, NO, SITE))                                             \
    S(plan_run, ha_copy_plan_run_on_(NO, NO, NO, 0, SITE))                                         \
    S(save, darray_save_npy(table, NO))                                                            \
    S(write, darray_write_npy(table, NO))                                                          \
    S(fprint, darray_fprint(table, NO))                                                            \
    S(dlpack, darray_to_dlpack_(table, NO, HA_READ, NO, NO, SITE))                                 \
    S(dlpack_legacy, darray_to_dlpack_legacy_(table, NO, HA_WRITE, NO, NO, SITE))                  \
    S(interface, darray_to_array_interface_(table, ACCESS, NO))                                    \
    S(interface_of, darray_to_array_interface_(table, NO, (ha_array_interface *)nowhere))          \
    S(cuda, darray_to_cuda_array_interface_(table, ACCESS, NO))                                    \
    S(cuda_of, darray_to_cuda_array_interface_(table, NO, (ha_cuda_array_interface *)nowhere))     \
    S(sycl, darray_to_sycl_usm_array_interface_(table, ACCESS, NO))                                \
    S(sycl_of, darray_to_sycl_usm_array_interface_(table, NO, NO))

#define RECORDS(S)                                                                                 \
    S(records_sync, ha_records_sync_(NO, SITE))                                                    \
    S(records_layout, ha_records_layout_(NO, NO, "aos", SITE))                                     \
    S(records_apply_number, ha_records_apply_number_(NO, HA_ADD, 1, NO, NO, SITE))                 \
    S(records_apply_array, ha_records_apply_array_(NO, HA_ADD, NO_VIEW, NO, NO, SITE))             \
    S(records_apply_records, ha_records_apply_records_(NO, HA_ADD, NO, NO, NO, SITE))              \
    S(records_no_layout, ha_records_layout_(records.records, NO, NO, SITE))                        \
    S(records_resize, ha_records_resize_(records.records, NO, SITE))                               \
    S(records_resize_none, ha_records_resize_(NO, two_by_two, SITE))                               \
    S(records_get, ha_records_get(NO, &number, &one_pair))                                         \
    S(records_get_at, ha_records_get(records.records, NO, &one_pair))                              \
    S(records_get_to, ha_records_get(records.records, &number, NO))                                \
    S(records_set, ha_records_set(NO, &number, &one_pair))                                         \
    S(records_set_at, ha_records_set(records.records, NO, &one_pair))                              \
    S(records_set_to, ha_records_set(records.records, &number, NO))                                \
    S(records_open, ha_records_open_(&no_records, NO, NO, "read", ALL, SITE))                      \
    S(records_open_into, ha_records_open_(NO, records.records, NO, "overwrite", ALL, SITE))        \
    S(records_open_nothing, ha_records_open_(&no_records, records.records, NO, NO, ALL, SITE))     \
    S(records_close, ha_records_close_(NO))                                                        \
    S(records_run, ha_records_run_(nothing, NO, NO, 0, SITE, SITE))                                \
    S(records_run_nothing, ha_records_run_(NULL, &open_records, NO, 0, SITE, SITE))                \
    S(records_run_argument, ha_records_run_(nothing, &open_records, NO, 8, SITE, SITE))            \
    S(records_wait, ha_records_wait_(NO, SITE))                                                    \
    S(records_prefetch, ha_records_prefetch_(NO, NO, NO, 0, HA_END, SITE))                         \
    S(records_use,                                                                                 \
      ha_records_use_(&no_records, NO, NO, &view, sizeof view, NO, "read", ALL, SITE))             \
    S(records_use_nothing, ha_records_use_(&no_records, records.records, records.type_, &view,     \
                                           sizeof view, NO, NO, ALL, SITE))

#define NUMBERS(S)                                                                                 \
    S(dtype_find, ha_dtype_find("double", NO))                                                     \
    S(dtype_of_type, ha_dtype_of_type(T, NO))                                                      \
    S(convert, ha_dvalue_convert(ONE, D, NO))                                                      \
    S(store, ha_dvalue_store(ONE, D, NO))                                                          \
    S(product, ha_extents_product(SHAPE, NO))                                                      \
    S(product_of, ha_extents_product(2, NO, &number))                                              \
    S(strides, ha_extents_strides(SHAPE, HA_ROW_MAJOR, NO))                                        \
    S(strides_of, ha_extents_strides(2, NO, HA_ROW_MAJOR, &number))                                \
    S(reach, ha_extents_reach(SHAPE, two_by_two, &number, NO))                                     \
    S(reach_low, ha_extents_reach(SHAPE, two_by_two, NO, &number))                                 \
    S(reach_of, ha_extents_reach(SHAPE, NO, &number, &number))                                     \
    S(inside, ha_extents_inside(SHAPE, NO, 0, 9))                                                  \
    S(add, ha_extents_add(SHAPE, two_by_two, NO))                                                  \
    S(add_to, ha_extents_add(SHAPE, NO, &number))                                                  \
    S(multiply, ha_extents_multiply(SHAPE, two_by_two, NO))                                        \
    S(multiply_by, ha_extents_multiply(2, NO, two_by_two, &number))                                \
    S(extent_get, ha_extents_get(SHAPE, 0, NO))                                                    \
    S(extent_set, ha_extents_set(2, NO, 0, 1))                                                     \
    S(offset, ha_offset_checked(2, (int64_t[]){0, 0}, two_by_two, two_by_two, NO))                 \
    S(offset_of, ha_offset_checked(2, NO, two_by_two, two_by_two, &number))                        \
    S(linear, ha_linear_of_index(2, (int64_t[]){0, 0}, two_by_two, HA_ROW_MAJOR, NO))              \
    S(linear_of, ha_linear_of_index(2, NO, two_by_two, HA_ROW_MAJOR, &number))                     \
    S(index, ha_index_of_linear(2, 0, two_by_two, HA_ROW_MAJOR, NO))                               \
    S(measure, ha_npy_measure("\x93NUMPY\1\0\0\0\0\0", 12, NO))                                    \
    S(measure_of, ha_npy_measure(NO, 12, (size_t[]){0}))                                           \
    S(parse, ha_npy_parse("\x93NUMPY\1\0\0\0\0\0", 12, NO))                                        \
    S(parse_of, ha_npy_parse(NO, 12, (ha_npy_header *)nowhere))                                    \
    S(print_header, ha_npy_print(NO, &number, sizeof number))                                      \
    S(print_nowhere, ha_npy_print((ha_npy_header[]){{.type = D}}, NO, 256))

/* ---- refused: returns nothing, and HA_ERR_ARGUMENT is in ha_take_error ------------------------ */

#define OBJECTS(S)                                                                                 \
    S(filled, ha_array_filled(T, 3, NO, NO))                                                       \
    S(of, ha_array_of(T, 3, NO, NO))                                                               \
    S(like, ha_array_like(NO))                                                                     \
    S(copied, ha_array_copy(NO))                                                                   \
    S(wrap, ha_array_wrap(T, 3, NO, 1))                                                            \
    S(context_find, ha_context_find(NO))                                                           \
    S(store_open, ha_store_open(NO))                                                               \
    S(sycl_adopt, ha_sycl_adopt(NO))                                                               \
    S(context_get, ha_context_get(NO, 0))                                                          \
    S(plan, ha_copy_plan_new(NO, 1))                                                               \
    S(view_new, darray_new(D, 2, NO, NO).array)                                                    \
    S(view_new_in, darray_new_in(HA_ROW_MAJOR, D, 2, NO, NO).array)                                \
    S(view_new_type, darray_new_(HA_ROW_MAJOR, T, 2, NO, NO).array)                                \
    S(view_zeros, darray_zeros(D, 2, NO, NO).array)                                                \
    S(view_zeros_type, darray_zeros_(T, 2, NO, NO).array)                                          \
    S(view_filled, darray_filled(D, 2, NO, ONE, NO).array)                                         \
    S(view_filled_with, darray_filled_(T, SHAPE, NO, NO).array)                                    \
    S(view_of, darray_of(D, SHAPE, NO, NO).array)                                                  \
    S(view_of_type, darray_of_(T, 2, NO, four, NO).array)                                          \
    S(make, darray_make(D, NO, NO).array)                                                          \
    S(make_of, darray_make_of(T, NO, NO).array)                                                    \
    S(make_type, darray_make_(T, 2, NO, NO).array)                                                 \
    S(from_none, darray_from(NO, SHAPE).array)                                                     \
    S(from, darray_from(line.array, 2, NO).array)                                                  \
    S(view_wrap, darray_wrap(D, SHAPE, NO, NO, NO, 0).array)                                       \
    S(view_wrap_type, darray_wrap_(T, 2, NO, NO, &number, NO, 0).array)                            \
    S(part, darray_part_(table, two_by_two, NO, SITE).array)                                       \
    S(permute, darray_permute_(table, NO, SITE).array)                                             \
    S(reshape, darray_reshape(table, 1, NO).array)                                                 \
    S(reshape_in, darray_reshape_in_(HA_COLUMN_MAJOR, table, 1, NO, SITE).array)                   \
    S(broadcast, darray_broadcast_(table, 3, NO, SITE).array)                                      \
    S(with_origin, darray_with_origin_(table, NO, SITE).array)                                     \
    S(load, darray_load_npy(NO, NO).array)                                                         \
    S(read, darray_read_npy(NO, NO).array)                                                         \
    S(map, darray_map_npy(NO, 0).array)                                                            \
    S(from_dlpack, darray_from_dlpack(NO, NO).array)                                               \
    S(from_legacy, darray_from_dlpack_legacy(NO, NO).array)                                        \
    S(from_interface, darray_from_array_interface(NO).array)                                       \
    S(from_cuda, darray_from_cuda_array_interface(NO, NO).array)                                   \
    S(from_sycl, darray_from_sycl_usm_array_interface(NO, NO).array)                               \
    S(loaded, ha_dvalue_load(D, NO).type)                                                          \
    S(records_new, ha_records_new(NO, 1, &number, NO))                                             \
    S(records_new_of, ha_records_new(&pair_record, 1, NO, NO))                                     \
    S(records_wrap, ha_records_wrap(NO, NO, 0))                                                    \
    S(records_of, pairs_of(NO, 3).records)                                                         \
    S(records_of_const, pairs_of_const(NO, 3).records)                                             \
    S(records_on, pairs_on(NO, 2, 3).records)                                                      \
    S(records_wrap_typed,                                                                          \
      ha_records_typed_wrap_(records.type_, two_by_two, "soa", NO, 2, 0, SITE))                    \
    S(records_mapping, ha_records_mapping(NO, NO))                                                 \
    S(kernel_place, ha_kernel_place(NO, NO, NO, 9))                                                \
    S(kernel_log, ha_kernel_log(NO, NO, NO, 9))                                                    \
    S(opencl_buffer, ha_opencl_buffer(NO, NO))                                                     \
    S(report, (ha_report(NO), NULL))                                                               \
    S(report_json, (ha_report_json(NO), NULL))

/* ---- fine: it means something ---------------------------------------------------------------- */

/* No array, none to free, only the length, the host, the defaults. S(name, value, call) */
#define FINE_ONES(S)                                                                               \
    S(free, 0, ha_array_free(NO))                                                                  \
    S(free_handle, 0, harray_double_free(NO))                                                      \
    S(free_view, 0, darray_free(NO))                                                               \
    S(free_typed, 0, array_double_2_free(NO))                                                      \
    S(free_plan, 0, (ha_copy_plan_free(NO), 0))                                                    \
    S(discard, 0, ha_discard_(NO, SITE))                                                           \
    S(dl_before, 0, ha_dl_before_(NO, NO))                                                         \
    S(dl_after, 0, (ha_dl_after_(NO, NO), 0))                                                      \
    S(unwrap, 0, ha_unwrap_(NO, SITE))                                                             \
    S(unwrap_handle, 0, harray_double_unwrap(NO))                                                  \
    S(unwrap_typed, 0, array_double_2_unwrap(NO))                                                  \
    S(retain, 1, ha_array_retain(NO) == NULL)                                                      \
    S(release, 0, ha_memory_release(NO, NO))                                                       \
    S(done, 0, (ha_array_done(NO, NO), 0))                                                         \
    S(set_tier, 0, ha_memory_set_tier(NO, NO))                                                     \
    S(set_budget, 0, ha_memory_set_budget(NO, 0))                                                  \
    S(set_watermark, 0, ha_memory_set_watermark(NO, 1))                                            \
    S(budget, 0, ha_memory_budget(NO))                                                             \
    S(make_room, 0, ha_memory_make_room(NO, 0))                                                    \
    S(pressure, 0, ha_memory_pressure(NO).budget)                                                  \
    S(holders, 0, ha_memory_holders(NO, NO, 9) > 1000)                                             \
    S(type_of, 0, ha_array_type(NO).size)                                                          \
    S(size, 0, ha_array_size(NO))                                                                  \
    S(id, 0, ha_array_id(NO))                                                                      \
    S(by_id, 0, ha_array_by_id(0) != NO)                                                           \
    S(set_controller, 0, (ha_set_controller(NO), 0))                                               \
    S(version, 0, ha_array_version(NO))                                                            \
    S(name, 0, *ha_array_name(NO))                                                                 \
    S(set_name, 0, (ha_array_set_name(line.array, NO), *ha_array_name(line.array)))                \
    S(array_capacity, 0, ha_array_capacity(NO, NO))                                                \
    S(access_capacity, 0, ha_access_capacity_(NO))                                                 \
    S(valid, 0, ha_array_valid(NO, NO, 0, HA_END))                                                 \
    S(valid_ranges, 1, ha_array_valid_ranges(line.array, NO, NO, 9))                               \
    S(first_touch, 1, ha_array_first_touch(NO) == ha_host())                                       \
    S(valid_context, 1, ha_array_valid_context(NO) == ha_host())                                   \
    S(residency, 1, ha_array_residency(line.array, NO, 9))                                         \
    S(statistics, 0, ha_array_statistics(NO).bytes)                                                \
    S(describe, sizeof "no array\n" - 1, ha_describe(NO, NO, 9))                                   \
    S(is_exact, 1, ha_context_is_exact(NO))                                                        \
    S(kinds, 0, ha_context_count(NO))                                                              \
    S(context_name, 'h', *ha_context_name(NO))                                                     \
    S(context_kind, 'h', *ha_context_kind(NO))                                                     \
    S(context_number, 0, ha_context_number(NO))                                                    \
    S(stream, 1, ha_context_stream(NO) == NULL)                                                    \
    S(finish_host, 0, ha_context_finish(NO))                                                       \
    S(finish_within, 0, ha_context_finish_within(NO, 0))                                           \
    S(fork, 1, ha_context_fork(NO) == ha_host())                                                   \
    S(zero_copy, 0, ha_context_is_zero_copy(NO))                                                   \
    S(link_cost, 0, ha_link_cost(NO, NO))                                                          \
    S(handlers, 0,                                                                                 \
      (ha_set_event_handler(NULL, NO), ha_set_error_handler(NULL, NO), ha_set_parallel(NULL, NO),  \
       0))                                                                                         \
    S(works, 0, ha_works(NO, 9) > 1000)                                                            \
    S(sites, 0, ha_sites(NO, 9) > 1000)                                                            \
    S(pointer_kind, HA_MEMORY_UNKNOWN, ha_pointer_kind(NO, NO))                                    \
    S(device, HA_DL_CPU, ha_context_dl_device(NO).device_type)                                     \
    S(print_shape, sizeof "double (2, 2)" - 1, darray_print_shape(table, NO, 99))                  \
    S(print_type, sizeof "double 2" - 1, darray_print_type(table, NO, 99))                         \
    S(describe_view, 1, darray_describe(table, NO, 99) > 20)                                       \
    S(print, sizeof "[[1 2]\n [3 4]]\n" - 1, darray_print(table, NO, 99))                          \
    S(print_value, 1, ha_dvalue_print(ONE, NO, 99))                                                \
    S(print_extents, sizeof "2, 2" - 1, ha_extents_print(SHAPE, NO, 99))                           \
    S(print_none, 0, ha_extents_print(2, NO, NO, 0))                                               \
    S(extents_equal, 0, ha_extents_equal(2, NO, 2, two_by_two))                                    \
    S(contiguous, 0, ha_extents_contiguous(2, NO, NO, HA_ROW_MAJOR))                               \
    S(half_of_none, 0, (ha_convert_half_to_float(NO, NO, 0), 0))                                   \
    S(records_free, 0, ha_records_free(NO))                                                        \
    S(records_free_typed, 0, pairs_free(NO))                                                       \
    S(records_unwrap, 0, ha_records_unwrap_(NO, SITE))                                             \
    S(records_unwrap_typed, 0, pairs_unwrap(NO))                                                   \
    S(records_mapping_host, 1,                                                                     \
      ha_records_mapping(records.records, NO) == ha_records_mapping(records.records, ha_host()))   \
    S(records_record, 0, ha_records_record(NO) != NULL)                                            \
    S(records_rank, 0, ha_records_rank(NO))                                                        \
    S(records_extent, 0, ha_records_extent(NO, 0))                                                 \
    S(records_size, 0, ha_records_size(NO))                                                        \
    S(records_version, 0, ha_records_version(NO))                                                  \
    S(records_name, 0, *ha_records_name(NO))                                                       \
    S(records_set_name, 0,                                                                         \
      (ha_records_set_name(records.records, NO), *ha_records_name(records.records)))               \
    S(records_set_none, 0, (ha_records_set_name(NO, "none"), 0))                                   \
    S(records_valid, 0, ha_records_valid(NO, NO, NO, 0, HA_END))                                   \
    S(records_all_valid, 1, ha_records_valid(records.records, NO, NO, 0, HA_END))                  \
    S(records_statistics, 0, ha_records_statistics(NO).bytes)                                      \
    S(records_describe, sizeof "no records\n" - 1, ha_records_describe(NO, NO, 9))                 \
    S(records_describe_length, 1, ha_records_describe(records.records, NO, 9) > 20)                \
    S(records_layout_host, 0, ha_records_layout_(records.records, NO, "aos", SITE))                \
    S(records_prefetch_nothing, 0, ha_records_prefetch_(records.records, NO, NO, 2, 2, SITE))      \
    S(file_none, 0, ha_file_configure(NO))                                                         \
    S(sim_defaults, 0, ha_sim_configure(NO))                                                       \
    S(cuda_defaults, 0, ha_cuda_configure(NO))

/* ---- the tables ------------------------------------------------------------------------------ */

#define STATUS(name, call)                                                                         \
    static int64_t s_##name(void) { return (int64_t)(call); }
#define OBJECT(name, call)                                                                         \
    static int64_t o_##name(void) { return (int64_t)(call != 0); }
#define VALUE(name, value, call)                                                                   \
    static int64_t v_##name(void) { return (int64_t)(call); }
ACCESSES(STATUS)
ARRAYS(STATUS)
VIEWS(STATUS)
RECORDS(STATUS)
NUMBERS(STATUS)
OBJECTS(OBJECT)
FINE_ONES(VALUE)

typedef struct row {
    const char *call;
    int64_t (*go)(void);
    int64_t returns;
    ha_status status;
} row;

#define STATUS_ROW(name, call) {#call, s_##name, HA_ERR_ARGUMENT, HA_ERR_ARGUMENT},
#define OBJECT_ROW(name, call) {#call, o_##name, 0, HA_ERR_ARGUMENT},
#define VALUE_ROW(name, value, call) {#call, v_##name, (int64_t)(value), HA_OK},
static const row statuses[] = {ACCESSES(STATUS_ROW) ARRAYS(STATUS_ROW) VIEWS(STATUS_ROW)
                                   RECORDS(STATUS_ROW) NUMBERS(STATUS_ROW)};
static const row objects[] = {OBJECTS(OBJECT_ROW)};
static const row values[] = {FINE_ONES(VALUE_ROW)};

static void expect(const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        print_message("# %s\n", rows[i].call); /* the last one, if it crashes */
        const int64_t returned = rows[i].go();
        const ha_error e = ha_take_error();
        if (returned == rows[i].returns && e.status == rows[i].status &&
            (!e.status || strlen(e.text) > 5))
            continue;
        fail_msg("%s: %lld, %s: %s", rows[i].call, (long long)returned, ha_status_name(e.status),
                 e.text);
    }
}

TEST(what_has_to_be_there) { expect(statuses, sizeof statuses / sizeof *statuses); }
TEST(what_cannot_be_made) { expect(objects, sizeof objects / sizeof *objects); }
TEST(what_null_means) { expect(values, sizeof values / sizeof *values); }

/* All of it has left everything as it was. */
TEST(nothing_has_happened) {
    double back[4];
    for (size_t i = 0; i < 4; i++) {
        FINE(ha_array_get(line.array, i, &back[i]));
        assert_true(back[i] == four[i]);
    }
    assert_true(((const double *)open_table.data)[3] == 4);
    FINE(ha_detach(&held, &open_table));
    FINE(ha_token_finish(&held));
    assert_null(token.array);
    assert_null(no_records.records);
    FINE(ha_records_close_(&open_records));
    assert_int_equal(ha_records_size(records.records), 3);
    assert_string_equal(ha_records_mapping(records.records, NULL)->text, "aos");
    ha_ask_while_waiting_(NULL); /* nobody */
}

static int begin(void **state) {
    (void)state;
    line = harray_double_of(4, four);
    table = darray_of(D, SHAPE, four, NULL);
    records = pairs_new(3);
    if (ha_records_open(&open_records, records.records, NULL, "overwrite", 0, HA_END)) return 1;
    return HA_OK !=
           ha_open_any_(ACCESS, sizeof open_table, &table, sizeof table, NULL, HA_READ, SITE);
}

static int end(void **state) {
    (void)state;
    return harray_double_free(&line) || pairs_free(&records) || darray_free(&table) ||
           ha_shutdown();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_to_be_there),
        cmocka_unit_test(what_cannot_be_made),
        cmocka_unit_test(what_null_means),
        cmocka_unit_test(nothing_has_happened),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
