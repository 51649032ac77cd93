/* Members of bundles. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_MEMBERS_H
#define HARRAY_DETAIL_KERNEL_MEMBERS_H

#include "../kernel.h"

/* Members of bundles: as they are given, as they are seen, and the one made of the other. */
#define HA_MEMBER_GIVEN_(C, mode, ...) HA_MEMBER_GIVEN_##mode##_(__VA_ARGS__)
#define HA_MEMBER_GIVEN_value_(T, n) T n;
#define HA_MEMBER_GIVEN_constant_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_in_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_inout_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_out_(T, n) ha_given_##T n;

#define HA_MEMBER_SEEN_(C, mode, ...) HA_MEMBER_SEEN_##mode##_(__VA_ARGS__)
#define HA_MEMBER_SEEN_value_(T, n) T n;
#define HA_MEMBER_SEEN_constant_(T, n) HA_MEMBER_SEEN_in_(T, n)
#define HA_MEMBER_SEEN_in_(T, n)                                                                   \
    ha_in_##T n;                                                                                   \
    int64_t n##_size_;
#define HA_MEMBER_SEEN_inout_(T, n)                                                                \
    ha_out_##T n;                                                                                  \
    int64_t n##_size_;
#define HA_MEMBER_SEEN_out_(T, n) HA_MEMBER_SEEN_inout_(T, n)

#define HA_MEMBER_FOUND_(C, mode, ...) HA_MEMBER_FOUND_##mode##_(__VA_ARGS__)
#define HA_MEMBER_FOUND_value_(T, n) ha_seen_.n = *HA_CAST_(const T *, ha_slot_++->pointer);
#define HA_MEMBER_FOUND_constant_(T, n) HA_MEMBER_FOUND_in_(T, n)
#define HA_MEMBER_FOUND_in_(T, n)                                                                  \
    ha_seen_.n = ha_in_##T##_(HA_CAST_(ha_element_##T const *, ha_slot_->pointer), ha_slot_->span, \
                              ha_unit_);                                                           \
    ha_seen_.n##_size_ = ha_slot_++->size;
#define HA_MEMBER_FOUND_inout_(T, n)                                                               \
    ha_seen_.n = ha_out_##T##_(HA_CAST_(ha_element_##T *, ha_slot_->pointer), ha_slot_->span,      \
                               ha_unit_);                                                          \
    ha_seen_.n##_size_ = ha_slot_++->size;
#define HA_MEMBER_FOUND_out_(T, n) HA_MEMBER_FOUND_inout_(T, n)

#define HA_MEMBER_ROW_(B, mode, ...) HA_MEMBER_ROW_##mode##_(B, __VA_ARGS__)
#define HA_MEMBER_ROW_value_(B, T, n) HA_ROW_(HA_KERNEL_VALUE_, 0, T, T, n, offsetof(B, n))
#define HA_MEMBER_ROW_constant_(B, T, n)                                                           \
    HA_ROW_(HA_KERNEL_CONSTANT_, 0, ha_element_##T, T, n, offsetof(B, n))
#define HA_MEMBER_ROW_in_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_IN_, B, T, n)
#define HA_MEMBER_ROW_inout_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_INOUT_, B, T, n)
#define HA_MEMBER_ROW_out_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_OUT_, B, T, n)
#define HA_MEMBER_ROW_OF_(mode, B, T, n)                                                           \
    HA_ROW_(mode, HA_RANK_OF_(T), ha_element_##T, T, n, offsetof(B, n))

#endif
