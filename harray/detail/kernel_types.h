/* What a kernel is at run time: its parameters, what a launch gives them, and the list of all kernels. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_TYPES_H
#define HARRAY_DETAIL_KERNEL_TYPES_H

#include "../kernel.h"

typedef enum ha_kernel_mode_ {
    HA_KERNEL_USES_,
    HA_KERNEL_OPTION_,
    HA_KERNEL_BUNDLE_,
    HA_KERNEL_RECORDS_,
    HA_KERNEL_VALUE_,
    HA_KERNEL_CONSTANT_, /* from here on arrays */
    HA_KERNEL_IN_,
    HA_KERNEL_INOUT_,
    HA_KERNEL_OUT_,
    HA_KERNEL_RESULT_ /* the one element that a reduction writes: the last parameter */
} ha_kernel_mode_;

enum { HA_OPTION_block_, HA_OPTION_contract_, HA_OPTION_grain_ };

typedef struct ha_kernel_parameter_ ha_kernel_parameter_;
struct ha_kernel_parameter_ {
    ha_kernel_mode_ mode;
    int rank;     /* of an array_T_D; 0 of a harray_T. Which option it is; members of a bundle */
    size_t bytes; /* of the value, or of one element. What the option is set to */
    const char *type; /* as it stands in the kernel; of what it uses the site, and
                         behind a newline the text */
    const char *name, *site;
    size_t offset; /* of a member of a bundle: in what is given */
    const ha_kernel_parameter_ *member;
    const ha_record *record; /* of values and elements; NULL, or without a name: they are none */
    const ha_records_type_ *records;
    const char *what; /* of records */
    int updates;      /* inout, and computed with: never written ones are refused, as of in */
};

/* What of records is given. */
typedef struct ha_kernel_use_ {
    ha_records *records;
    void *view;                  /* room for a view of them */
    const struct ha_region *box; /* of those that are opened; NULL: all, or those of the lanes */
} ha_kernel_use_;

/* The record of a type that is one. In C this is HA_RECORD's, or defines nothing. */
#ifdef __cplusplus
#define HA_MAYBE_RECORD_(T)
#define HA_RECORD_OF_(name, T) ha_record_found_<T>()
#else
#define HA_MAYBE_RECORD_(T) HA_UNUSED static const ha_record T##_record;
#define HA_RECORD_OF_(name, T) &name##_record
#endif

/* What a parameter is given in a launch, where the loops run. */
typedef struct ha_kernel_slot_ {
    void *pointer; /* to the value; else to the first element, of a view to index 0, 0, … */
    void *span;    /* of a view: a span_T_D, whose data is not looked at; NULL: it is none */
    int64_t size;  /* elements; 0 of values */
} ha_kernel_slot_;

/* Runs the lanes of a box. `apart`: no argument that is written overlaps another one, and the last
 * strides of all views are 1. */
typedef void (*ha_kernel_loops_)(const ha_kernel *kernel, const ha_region *box, int apart,
                                 const ha_kernel_slot_ *slot);

struct ha_kernel {
    const char *name, *text, *indices, *site;
    int rank; /* indices */
    int parameters;
    const ha_kernel_parameter_ *parameter;
    ha_kernel_loops_ loops;
    int each;                              /* lanes are the records of the first parameter */
    const struct ha_team_ *team;           /* NULL: its lanes have none */
    const struct ha_reduction_ *reduction; /* NULL: it is none */
    const char *file; /* the tag of the file whose text it is; NULL: the text is its body */
};

/* What HA_KERNEL_EXPORT exports: of which version the kernel is, and by which engine its library launches it. */
typedef struct ha_kernel_exported_ {
    const char *version;
    const ha_kernel *kernel;
    ha_status (*launch)(const ha_kernel *kernel, ha_context *context, const struct ha_region *box,
                        const void *const *given);
} ha_kernel_exported_;

/* All kernels of a module lie one behind the other: in a section of this name, whose beginning and end the linker
 * knows. Without a kernel there is no section. */
#ifdef HARRAY_PREFIX
#define HA_KERNEL_LIST_ HA_JOIN_(HARRAY_PREFIX, ha_kernels_)
#else
#define HA_KERNEL_LIST_ ha_kernels_
#endif
#define HA_LISTED_ __attribute__((__section__(HA_STRING_(HA_KERNEL_LIST_)), __aligned__(8)))
extern const ha_kernel HA_JOIN_(__start_, HA_KERNEL_LIST_)[]
    __attribute__((__weak__, __visibility__("hidden")));
extern const ha_kernel HA_JOIN_(__stop_, HA_KERNEL_LIST_)[]
    __attribute__((__weak__, __visibility__("hidden")));

/* given: the addresses of the arguments, in their order. box: NULL for as many lanes as there are elements */
HA_API ha_status ha_kernel_launch_(const ha_kernel *kernel, ha_context *context,
                                   const ha_region *box, const void *const *given);

enum {
    HA_MOST_PARAMETERS_ = 12,
    HA_MOST_ARGUMENTS_ = 65, /* with the members of bundles, and what a reduction writes */
    HA_CONSTANT_BYTES_ = 1 << 16
};

#endif
