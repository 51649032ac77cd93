/* What each mode of a kernel's parameters adds to what is made of the kernel. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_MODES_H
#define HARRAY_DETAIL_KERNEL_MODES_H

#include "../kernel.h"

/* What each mode adds; all but the last two begin with their comma. C is the macro's second argument. */
#define HA_MODE_GIVEN_(C, mode, ...) HA_MODE_GIVEN_##mode##_(__VA_ARGS__)
#define HA_MODE_GIVEN_uses_(tag)
#define HA_MODE_GIVEN_option_(name, value)
#define HA_MODE_GIVEN_use_(R, n, what) , ha_given_##R n
#define HA_MODE_GIVEN_value_(T, n) , T n
#define HA_MODE_GIVEN_bundle_(B, n) , ha_given_##B n
#define HA_MODE_GIVEN_constant_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_in_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_inout_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_out_(T, n) , ha_given_##T n

#define HA_MODE_SEEN_(C, mode, ...) HA_MODE_SEEN_##mode##_(__VA_ARGS__)
#define HA_MODE_SEEN_uses_(tag)
#define HA_MODE_SEEN_option_(name, value)
#define HA_MODE_SEEN_use_(R, n, what) , const ha_seen_##R n
#define HA_MODE_SEEN_value_(T, n) , const T n
#define HA_MODE_SEEN_bundle_(B, n) , const ha_seen_##B n
#define HA_MODE_SEEN_constant_(T, n) HA_MODE_SEEN_in_(T, n)
#define HA_MODE_SEEN_in_(T, n) , const ha_in_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_inout_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_out_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_

#define HA_MODE_LOOPED_(C, mode, ...) HA_MODE_LOOPED_##mode##_(C, __VA_ARGS__)
#define HA_MODE_LOOPED_uses_(C, tag)
#define HA_MODE_LOOPED_option_(C, name, value)
#define HA_MODE_LOOPED_use_(C, R, n, what) , const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_value_(C, T, n) , const T n
#define HA_MODE_LOOPED_bundle_(C, B, n) , const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_constant_(C, T, n) HA_MODE_LOOPED_in_(C, T, n)
#define HA_MODE_LOOPED_in_(C, T, n)                                                                \
    , ha_element_##T const *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_inout_(C, T, n)                                                             \
    , ha_element_##T *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_out_(C, T, n) HA_MODE_LOOPED_inout_(C, T, n)

#define HA_MODE_VARIABLE_(C, mode, ...) HA_MODE_VARIABLE_##mode##_(C, __VA_ARGS__)
#define HA_MODE_VARIABLE_uses_(C, tag)
#define HA_MODE_VARIABLE_option_(C, name, value)
#define HA_MODE_VARIABLE_use_(C, R, n, what)                                                       \
    ha_seen_##R n = *HA_CAST_(const ha_seen_##R *, n##_slot_->pointer);
#define HA_MODE_VARIABLE_value_(C, T, n)
#define HA_MODE_VARIABLE_bundle_(C, B, n) const ha_seen_##B n = ha_seen_##B##_(n##_slot_, C);
#define HA_MODE_VARIABLE_constant_(C, T, n) HA_MODE_VARIABLE_in_(C, T, n)
#define HA_MODE_VARIABLE_in_(C, T, n)                                                              \
    const ha_in_##T n = ha_in_##T##_(n##_first_, n##_slot_->span, C);                              \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_inout_(C, T, n)                                                           \
    const ha_out_##T n = ha_out_##T##_(n##_first_, n##_slot_->span, C);                            \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_out_(C, T, n) HA_MODE_VARIABLE_inout_(C, T, n)

#define HA_MODE_NAMED_(C, mode, ...) HA_MODE_NAMED_##mode##_(__VA_ARGS__)
#define HA_MODE_NAMED_uses_(tag)
#define HA_MODE_NAMED_option_(name, value)
#define HA_MODE_NAMED_use_(R, n, what) , n
#define HA_MODE_NAMED_value_(T, n) , n
#define HA_MODE_NAMED_bundle_(B, n) , n
#define HA_MODE_NAMED_constant_(T, n) , n, n##_size_
#define HA_MODE_NAMED_in_(T, n) , n, n##_size_
#define HA_MODE_NAMED_inout_(T, n) , n, n##_size_
#define HA_MODE_NAMED_out_(T, n) , n, n##_size_

#define HA_MODE_PASSED_(C, mode, ...) HA_MODE_PASSED_##mode##_(__VA_ARGS__)
#define HA_MODE_PASSED_uses_(tag)
#define HA_MODE_PASSED_option_(name, value)
#define HA_MODE_PASSED_use_(R, n, what) , n##_slot_
#define HA_MODE_PASSED_value_(T, n) , *HA_CAST_(const T *, n##_slot_->pointer)
#define HA_MODE_PASSED_bundle_(B, n) , n##_slot_
#define HA_MODE_PASSED_constant_(T, n) HA_MODE_PASSED_in_(T, n)
#define HA_MODE_PASSED_in_(T, n) , HA_CAST_(ha_element_##T const *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_inout_(T, n) , HA_CAST_(ha_element_##T *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_out_(T, n) HA_MODE_PASSED_inout_(T, n)

#define HA_MODE_ADDRESS_(C, mode, ...) HA_MODE_ADDRESS_##mode##_(__VA_ARGS__)
#define HA_MODE_ADDRESS_uses_(tag) , HA_NULL_
#define HA_MODE_ADDRESS_option_(name, value) , HA_NULL_
#define HA_MODE_ADDRESS_use_(R, n, what) , &n##_use_
#define HA_MODE_ADDRESS_value_(T, n) , &n
#define HA_MODE_ADDRESS_bundle_(B, n) , &n
#define HA_MODE_ADDRESS_constant_(T, n) , &n
#define HA_MODE_ADDRESS_in_(T, n) , &n
#define HA_MODE_ADDRESS_inout_(T, n) , &n
#define HA_MODE_ADDRESS_out_(T, n) , &n

#define HA_MODE_SLOT_(C, mode, ...) HA_MODE_SLOT_##mode##_(__VA_ARGS__)
#define HA_MODE_SLOT_uses_(tag) ha_slot_++;
#define HA_MODE_SLOT_option_(name, value) ha_slot_++;
#define HA_MODE_SLOT_use_(R, n, what) const ha_kernel_slot_ *const n##_slot_ = ha_slot_++;
#define HA_MODE_SLOT_value_(T, n) const ha_kernel_slot_ *const n##_slot_ = ha_slot_++;
#define HA_MODE_SLOT_bundle_(B, n)                                                                 \
    const ha_kernel_slot_ *const n##_slot_ = ha_slot_;                                             \
    ha_slot_ += HA_MEMBERS_(B);
#define HA_MODE_SLOT_constant_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_in_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_inout_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_out_(T, n) HA_MODE_SLOT_value_(T, n)

#define HA_MODE_ROW_(C, mode, ...) HA_MODE_ROW_##mode##_(__VA_ARGS__)
#define HA_MODE_ROW_uses_(tag)                                                                     \
    {HA_KERNEL_USES_,                                                                              \
     0,                                                                                            \
     0,                                                                                            \
     ha_uses_##tag,                                                                                \
     #tag,                                                                                         \
     HA_SITE,                                                                                      \
     0,                                                                                            \
     HA_NULL_,                                                                                     \
     HA_RECORD_OF_(tag, ha_tag_##tag##_),                                                          \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     0},
#define HA_MODE_ROW_option_(name, value)                                                           \
    {HA_KERNEL_OPTION_,                                                                            \
     HA_OPTION_##name##_,                                                                          \
     value,                                                                                        \
     #value,                                                                                       \
     #name,                                                                                        \
     HA_SITE,                                                                                      \
     0,                                                                                            \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     0},
#define HA_MODE_ROW_bundle_(B, n)                                                                  \
    {HA_KERNEL_BUNDLE_, HA_MEMBERS_(B), 0,        #B,       #n, HA_SITE, 0,                        \
     ha_members_##B,    HA_NULL_,       HA_NULL_, HA_NULL_, 0},
#define HA_MODE_ROW_use_(R, n, what)                                                               \
    {HA_KERNEL_RECORDS_, 0,        sizeof(ha_seen_##R), #R,   #n, HA_SITE ": " #n, 0,              \
     HA_NULL_,           HA_NULL_, &R##_type_,          what, 0},
#define HA_MODE_ROW_value_(T, n) HA_ROW_(HA_KERNEL_VALUE_, 0, T, T, n, 0)
#define HA_MODE_ROW_constant_(T, n) HA_ROW_(HA_KERNEL_CONSTANT_, 0, ha_element_##T, T, n, 0)
#define HA_MODE_ROW_in_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_IN_, T, n)
#define HA_MODE_ROW_inout_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_INOUT_, T, n)
#define HA_MODE_ROW_out_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_OUT_, T, n)
#define HA_MODE_ROW_OF_(mode, T, n) HA_ROW_(mode, HA_RANK_OF_(T), ha_element_##T, T, n, 0)
/* A span has a pointer, and three numbers for each dimension. */
#define HA_RANK_OF_(T) HA_TO_(int, sizeof(ha_in_##T) / 24)
#define HA_ROW_(mode, rank, element, T, n, offset)                                                 \
    {mode,   rank,     sizeof(element),           #T,       #n,       HA_SITE ": " #n,             \
     offset, HA_NULL_, HA_RECORD_OF_(T, element), HA_NULL_, HA_NULL_, 0},

/* What may be a record, is one, or nothing. */
#define HA_MODE_MAYBE_(C, mode, ...) HA_MODE_MAYBE_##mode##_(__VA_ARGS__)
#define HA_MODE_MAYBE_uses_(tag) HA_MAYBE_RECORD_(tag)
#define HA_MODE_MAYBE_option_(name, value)
#define HA_MODE_MAYBE_use_(R, n, what)
#define HA_MODE_MAYBE_bundle_(B, n)
#define HA_MODE_MAYBE_value_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_constant_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_in_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_inout_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_out_(T, n) HA_MAYBE_RECORD_(T)

/* Views of records, and where the launch finds them. */
#define HA_MODE_STORED_(C, mode, ...) HA_MODE_STORED_##mode##_(__VA_ARGS__)
#define HA_MODE_STORED_uses_(tag)
#define HA_MODE_STORED_option_(name, value)
#define HA_MODE_STORED_use_(R, n, what)                                                            \
    ha_seen_##R n##_view_;                                                                         \
    const ha_kernel_use_ n##_use_ = {n.records, &n##_view_, 0};
#define HA_MODE_STORED_bundle_(B, n)
#define HA_MODE_STORED_value_(T, n)
#define HA_MODE_STORED_constant_(T, n)
#define HA_MODE_STORED_in_(T, n)
#define HA_MODE_STORED_inout_(T, n)
#define HA_MODE_STORED_out_(T, n)

/* How many arguments each mode comes to. */
#define HA_MEMBERS_(B) HA_TO_(int, sizeof ha_members_##B / sizeof *ha_members_##B)
#define HA_MODE_COUNT_(C, mode, ...) HA_MODE_COUNT_##mode##_(__VA_ARGS__)
#define HA_MODE_COUNT_uses_(tag) +1
#define HA_MODE_COUNT_option_(name, value) +1
#define HA_MODE_COUNT_use_(R, n, what) +1
#define HA_MODE_COUNT_value_(T, n) +1
#define HA_MODE_COUNT_bundle_(B, n) +HA_MEMBERS_(B)
#define HA_MODE_COUNT_constant_(T, n) +1
#define HA_MODE_COUNT_in_(T, n) +1
#define HA_MODE_COUNT_inout_(T, n) +1
#define HA_MODE_COUNT_out_(T, n) +1

#define HA_SLOTS_(parameters) (0 HA_FOR_FIELDS_(HA_MODE_COUNT_, ~, HA_BARE_ parameters))

#endif
