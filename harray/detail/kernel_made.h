/* What is made of a kernel: its body, loops, description, and the functions that launch it. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_MADE_H
#define HARRAY_DETAIL_KERNEL_MADE_H

#include "../kernel.h"

#define HA_KERNEL_TEXT_(name, parameters, indices, indices_text, text, ...)                        \
    HA_KERNEL_RANK_(name, parameters, HA_COUNT_OF_ indices, indices, indices_text, text,           \
                    __VA_ARGS__)
#define HA_KERNEL_RANK_(name, parameters, D, ...) HA_KERNEL_MADE_(name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_MADE_(name, parameters, D, indices, indices_text, text, ...)                     \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_KERNEL_BODY_(name, parameters, D, indices, __VA_ARGS__)                                     \
    HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, text, HA_NULL_, 1, HA_NULL_)    \
    HA_CONTRACTION_END_                                                                            \
    struct ha_semicolon_

/* In a file: the body comes behind all that calls it. */
#define HA_KERNEL_FILED_(tag, name, parameters, indices, indices_text)                             \
    HA_KERNEL_FILED_RANK_(tag, name, parameters, HA_COUNT_OF_ indices, indices, indices_text)
#define HA_KERNEL_FILED_RANK_(tag, name, parameters, D, ...)                                       \
    HA_KERNEL_FILED_MADE_(tag, name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_FILED_MADE_(tag, name, parameters, D, indices, indices_text)                     \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_KERNEL_HEAD_(name, parameters, D, indices);                                                 \
    HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, HA_KERNEL_TEXT(tag), HA_NULL_,  \
                       1, #tag)                                                                    \
    HA_KERNEL_HEAD_(name, parameters, D, indices)

/* All that is made of a body; lanes: for each index of a loop. */
#define HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, text, team, lanes, file)    \
    HA_KERNEL_BOX_(name, parameters, D, indices)                                                   \
    HA_KERNEL_LOOP_(name, HA_CONTRACTS_(parameters), apart, __restrict__, 1, parameters, D,        \
                    indices)                                                                       \
    HA_KERNEL_LOOP_(name, HA_CONTRACTS_(parameters), any, , 0, parameters, D, indices)             \
    static void name##_loops_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int ha_apart_, const ha_kernel_slot_ *ha_slot_) {                    \
        (void)ha_kernel_;                                                                          \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        HA_AMONG_THREADS_(ha_box_, D, (lanes) * (HA_GRAIN_(parameters)),                           \
                          if (ha_apart_) name##_apart_(HA_SHARE_(ha_box_, 0) HA_FOR_FIELDS_(       \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));                           \
                          else name##_any_(HA_SHARE_(ha_box_, 0) HA_FOR_FIELDS_(                   \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));)                          \
    }                                                                                              \
    HA_KERNEL_DESCRIBED_(name, parameters, (), D, indices_text, text, 0, team, HA_NULL_, file)     \
    HA_KERNEL_OF_BOX_(name, parameters)                                                            \
    HA_TYPED_ HA_MUST_CHECK ha_status name(                                                        \
        ha_context *ha_context_,                                                                   \
        HA_LANES_OF_##D##_ ha_lanes_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {     \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        const ha_region ha_box_ = ha_lanes_##D##_(ha_lanes_);                                      \
        return ha_kernel_launch_(&name##_kernel, ha_context_,                                      \
                                 HA_IS_ALL_##D##_(ha_lanes_) ? HA_NULL_ : &ha_box_,                \
                                 ha_given_ + 1);                                                   \
    }

/* What is known of it at run time. `more`: parameters that it has beside these, as rows in parentheses. */
#define HA_KERNEL_DESCRIBED_(name, parameters, more, rank, indices_text, text, each, team,         \
                             reduction, file)                                                      \
    HA_FOR_FIELDS_(HA_MODE_MAYBE_, ~, HA_BARE_ parameters)                                         \
    static const ha_kernel_parameter_ name##_parameters_[] = {                                     \
        HA_FOR_FIELDS_(HA_MODE_ROW_, ~, HA_BARE_ parameters) HA_BARE_ more};                       \
    HA_LISTED_ static const ha_kernel name##_kernel = {#name,                                      \
                                                       text,                                       \
                                                       indices_text,                               \
                                                       HA_SITE,                                    \
                                                       rank,                                       \
                                                       sizeof name##_parameters_ /                 \
                                                           sizeof *name##_parameters_,             \
                                                       name##_parameters_,                         \
                                                       name##_loops_,                              \
                                                       each,                                       \
                                                       team,                                       \
                                                       reduction,                                  \
                                                       file};                                      \
    HA_STATIC_ASSERT_(HA_SLOTS_(parameters) < HA_MOST_ARGUMENTS_,                                  \
                      "HA_KERNEL(" #name "): more than 64 arguments, with those in bundles");

/* The function that launches the lanes of a box. */
#define HA_KERNEL_OF_BOX_(name, parameters)                                                        \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_in(                                                   \
        ha_context *ha_context_,                                                                   \
        ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {                \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        return ha_kernel_launch_(&name##_kernel, ha_context_, &ha_box_, ha_given_ + 1);            \
    }

/* Records: the first parameter is a `use`, and the loop one for each layout. */
#define HA_KERNEL_EACH_2_(name, R, p, what, parameters, ...)                                       \
    HA_KERNEL_EACH_3_(name, R, p, ((use, R, p, what), HA_BARE_ parameters), __VA_ARGS__)
#define HA_KERNEL_EACH_3_(name, R, p, parameters, at, at_text, text, body)                         \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_KERNEL_EACH_HEAD_(name, parameters, at)                                                     \
    HA_BARE_ body HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, text, HA_NULL_)         \
    HA_CONTRACTION_END_                                                                            \
    struct ha_semicolon_
#define HA_KERNEL_EACH_FILED_(...) HA_KERNEL_EACH_FILED_2_(__VA_ARGS__)
#define HA_KERNEL_EACH_FILED_2_(tag, name, R, p, what, parameters, ...)                            \
    HA_KERNEL_EACH_FILED_3_(tag, name, R, p, ((use, R, p, what), HA_BARE_ parameters), __VA_ARGS__)
#define HA_KERNEL_EACH_FILED_3_(tag, name, R, p, parameters, at, at_text)                          \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_KERNEL_EACH_HEAD_(name, parameters, at);                                                    \
    HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, HA_KERNEL_TEXT(tag), #tag)            \
    HA_KERNEL_EACH_HEAD_(name, parameters, at)
#define HA_KERNEL_EACH_HEAD_(name, parameters, at)                                                 \
    HA_BODY_FN_ void name##_body_(                                                                 \
        const ha_cursor HA_BARE_ at HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))
#define HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, text, file)                       \
    HA_BODY_FN_ void name##_each_(                                                                 \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {           \
        HA_EACH_IN(ha_seen_##R, p, ha_at_, ha_box_)                                                \
        name##_body_(ha_at_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));               \
    }                                                                                              \
    HA_KERNEL_EACH_LOOP_(name, HA_CONTRACTS_(parameters), p, parameters)                           \
    static void name##_loops_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int ha_apart_, const ha_kernel_slot_ *ha_slot_) {                    \
        (void)ha_kernel_;                                                                          \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        (void)ha_apart_;                                                                           \
        HA_AMONG_THREADS_(ha_box_, ha_seen_##R##_rank_, HA_GRAIN_(parameters),                     \
                          name##_any_(HA_SHARE_(ha_box_, HA_OUTERMOST_(R, p)) HA_FOR_FIELDS_(      \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));)                          \
    }                                                                                              \
    HA_KERNEL_DESCRIBED_(name, parameters, (), ha_seen_##R##_rank_, at_text, text, 1, HA_NULL_,    \
                         HA_NULL_, file)                                                           \
    HA_KERNEL_OF_BOX_(name, parameters)                                                            \
    HA_TYPED_ HA_MUST_CHECK ha_status name(                                                        \
        ha_context *ha_context_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {          \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        return ha_kernel_launch_(&name##_kernel, ha_context_, HA_NULL_, ha_given_ + 1);            \
    }
#define HA_KERNEL_EACH_LOOP_(...) HA_KERNEL_EACH_LOOP_1_(__VA_ARGS__)
#define HA_KERNEL_EACH_LOOP_1_(name, contracts, p, parameters)                                     \
    HA_CONTRACTED_##contracts##_ static __attribute__((__noinline__)) void name##_any_(            \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_LOOPED_, , HA_BARE_ parameters)) {          \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, 0, HA_BARE_ parameters)                                  \
        HA_FITTED_(parameters,                                                                     \
                   name##_each_(ha_box_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)));  \
    }

/* The text of the body is one of the macro's arguments, or several where it has commas. */
#define HA_KERNEL_BODY_(name, parameters, D, indices, ...)                                         \
    HA_KERNEL_HEAD_(name, parameters, D, indices) __VA_ARGS__
#define HA_KERNEL_HEAD_(name, parameters, D, indices)                                              \
    HA_BODY_FN_ void name##_body_(                                                                 \
        HA_INDEX_PARAMETERS_##D##_ indices HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))

#define HA_KERNEL_LOOP_(...) HA_KERNEL_LOOP_1_(__VA_ARGS__)
#define HA_KERNEL_LOOP_1_(name, contracts, how, restricted, unit, parameters, D, indices)          \
    HA_CONTRACTED_##contracts##_ static                                                            \
        __attribute__((__noinline__)) void name##_##how##_(const ha_region ha_box_ HA_FOR_FIELDS_( \
            HA_MODE_LOOPED_, restricted, HA_BARE_ parameters)) {                                   \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, unit, HA_BARE_ parameters)                               \
        HA_FITTED_(parameters,                                                                     \
                   name##_box_(ha_box_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)));   \
    }

/* The lanes of a box. */
#define HA_KERNEL_BOX_(name, parameters, D, indices)                                               \
    HA_BODY_FN_ void name##_box_(                                                                  \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {           \
        HA_INDEX_LOOPS_##D##_ indices name##_body_(                                                \
            HA_BARE_ indices HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));              \
    }

#endif
