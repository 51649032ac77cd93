#!/usr/bin/env python3
"""Checks what is refused when it is compiled, in words that say what is meant. Prints TAP.

usage: test_refused.py
"""
import functools
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = """#include "harray_records.h"
typedef struct { double r, p; } motion;
#define motion_FIELDS (double, r), (double, p)
HA_RECORD(motion)
HA_VIEW(path, motion, 1, HA_ANY)
HA_RECORDS(motions, path);
HA_FN %s sum(path v) { %s; }
HA_QUEUED(sum, path);
"""
ARRAYS = """#include "harray.h"
static inline void use(harray_double x, array_float_2 a) {
    HA_WRITING(v, %s, ha_host()) v.data[0] = 1;
    HA_SCOPED_READ(w, %s, ha_host());
    (void)w;
}
"""
NOTHING = "returns nothing"
ITSELF = "this takes the array itself"
USES = """#include "harray.h"
struct loop { double *x; const double *y; float *z; span_double_2 s; int n; };
void f(const ha_queue *queue, void *argument);
ha_status run(harray_double a, harray_double_const b, array_double_2 c, darray d);
ha_status run(harray_double a, harray_double_const b, array_double_2 c, darray d) {
    struct loop l;
    l.n = 0;
    (void)a, (void)b, (void)c, (void)d;
    return ha_run_with(NULL, f, l, %s);
}
"""
VIEWS = RECORDS % ("void", "(void)v") + """struct loop { path v; path_const w; double *x; };
void f(const ha_queue *queue, void *argument);
ha_status run(motions a);
ha_status run(motions a) {
    struct loop l;
    memset(&l, 0, sizeof l);
    return ha_run_with(NULL, f, l, %s);
}
"""
TYPED = """#include "harray_ops.h"
typedef struct { double a; } pair;
HARRAY(pair);
typedef double real;
HARRAY(real);
HA_OPS(%s);
HA_OPS(c64);
HA_OPS(int64_t);
ha_status run(harray_double x, harray_float f, harray_int32_t at, harray_int64_t far_at, harray_c64 z,
              harray_uint8_t mask, darray d, int *few, int64_t *many);
ha_status run(harray_double x, harray_float f, harray_int32_t at, harray_int64_t far_at, harray_c64 z,
              harray_uint8_t mask, darray d, int *few, int64_t *many) {
    (void)x, (void)f, (void)at, (void)far_at, (void)z, (void)mask, (void)d, (void)few, (void)many;
    return harray_%s;
}
"""
OPERATIONS = """#include "harray_ops.h"
struct other { int n; };
struct handle { ha_array *array; int n; };
struct fields { harray_double x; array_double_2 u; const darray *d; };
harray_double made(void);
ha_status run(harray_double x, const harray_double y, array_double_2 u, const darray d, harray_double_const c,
              array_double_2_const e, const struct fields *f, struct other o, struct handle h, ha_read_double r,
              harray_double *more, ha_write_double_2 *w, double *sum);
ha_status run(harray_double x, const harray_double y, array_double_2 u, const darray d, harray_double_const c,
              array_double_2_const e, const struct fields *f, struct other o, struct handle h, ha_read_double r,
              harray_double *more, ha_write_double_2 *w, double *sum) {
    (void)x, (void)y, (void)u, (void)d, (void)c, (void)e, (void)f, (void)o, (void)h, (void)r, (void)more, (void)w;
    int n;
    double room[4];
    struct { unsigned few : 5; signed some : 7; } bits = {1, 2};
    (void)sum, (void)n, (void)room, (void)bits;
    return (ha_status)(%s);
}
"""
TWICE = '#include "%s"\n#define HARRAY_IMPLEMENTATION\n#include "%s"\n'
WORDS = """#include "harray_ops.h"
ha_status run(harray_double x, harray_double y, harray_int32_t at, int op, ha_reduction by, double *number);
ha_status run(harray_double x, harray_double y, harray_int32_t at, int op, ha_reduction by, double *number) {
    (void)at, (void)op, (void)by, (void)number;
    return ha_%s, NULL);
}
"""
POINTER = "HA_USE: the member is no pointer"
READING = "for reading only"
# name, program, words of the error: none where it compiles; and how many errors say it, where that is known
CASES = [
    ("a function without a result", RECORDS % ("void", "(void)v"), None),
    ("a function that returns something", RECORDS % ("double", "(void)v; return 1"), NOTHING),
    ("arrays in scopes", ARRAYS % ("x", "a"), None),
    ("a statement expression in a scope", ARRAYS % ("x", "HA_DARRAY(a)"), None),
    ("the untyped array of a handle in a scope", ARRAYS % ("x.array", "a"), ITSELF),
    ("the untyped array of a handle in a declaration", ARRAYS % ("x", "a.array"), ITSELF),
    ("uses", USES % "HA_USE(x, a, HA_WRITE), HA_USE(y, b, HA_READ), HA_USE(s, c, HA_READ), HA_USE(x, d, HA_READ)",
     None),
    ("a use of another type", USES % "HA_USE(z, a, HA_WRITE)", POINTER),
    ("a use that is no pointer", USES % "HA_USE(n, a, HA_WRITE)", POINTER),
    ("uses of records", VIEWS % 'HA_USE_RECORDS(v, a, "write"), HA_USE_RECORDS(w, a, "read")', None),
    ("a use of records that is no view", VIEWS % 'HA_USE_RECORDS(x, a, "write")', "no view"),
    ("a use that may not be written", USES % "HA_USE(y, b, HA_WRITE)", READING),
    *((f"a function of a type: {call}", TYPED % ("double", call), None) for call in (
        "double_gather(x, x, at, NULL)", "double_sort_by_key(at, x, HA_ASCENDING, NULL)",
        "double_count(x, many, NULL)", "double_min_at(x, many, NULL)", "double_max_at(x, many, NULL)",
        "double_classify(HA_IS_NAN, mask, x, NULL)",
        "double_sparse_combine(HA_ADD, at, x, at, x, at, x, many, NULL)",
        "int64_t_find(far_at, mask, many, NULL)", "int64_t_inverse(far_at, far_at, NULL)",
        "int64_t_scan_offsets(far_at, far_at, NULL)", "c64_part(HA_ABS, f, z, NULL)",
        "c64_complex(z, f, f, NULL)")),
    *((f"a function of a type with another argument: {call}", TYPED % ("double", call), words) for call, words in (
        ("double_axpy(x, 2, f, NULL)", "harray_float"), ("double_axpy(x, 2, d, NULL)", "darray"),
        ("double_gather(x, x, x, NULL)", "harray_int32_t"),
        ("double_sort_by_key(far_at, x, HA_ASCENDING, NULL)", "harray_int32_t"),
        ("double_sort_by_key(at, f, HA_ASCENDING, NULL)", "harray_double"),
        ("double_count(x, few, NULL)", "int64_t"), ("double_min_at(x, few, NULL)", "int64_t"),
        ("double_max_at(f, many, NULL)", "harray_double"),
        ("double_classify(HA_IS_NAN, x, x, NULL)", "harray_uint8_t"),
        ("double_sparse_combine(HA_ADD, at, x, at, f, at, x, many, NULL)", "harray_double"),
        ("double_sparse_combine(HA_ADD, at, x, at, x, far_at, x, many, NULL)", "harray_int32_t"),
        ("int64_t_find(at, mask, many, NULL)", "harray_int64_t"),
        ("int64_t_find(far_at, far_at, many, NULL)", "harray_uint8_t"),
        ("int64_t_inverse(far_at, at, NULL)", "harray_int64_t"),
        ("int64_t_scan_offsets(far_at, at, NULL)", "harray_int64_t"),
        ("c64_part(HA_ABS, x, z, NULL)", "harray_float"), ("c64_part(HA_ABS, z, z, NULL)", "harray_float"),
        ("c64_complex(z, f, x, NULL)", "harray_float"), ("double_find(at, mask, many, NULL)", "double_find"))),
    *((f"a word: {call}", WORDS % call, None) for call in (
        "map(HA_SQRT, y, x", "combine(HA_MAXIMUM, y, x, x", "combine(op, y, x, x", "combine_number(HA_ADD, y, x, 1",
        "combine(op ? HA_ADD : HA_SUBTRACT, y, x, x", "scatter(HA_ASSIGN, y, at, x", "reduce(HA_SUM, x, number",
        "reduce(by, x, number", "scan(op ? HA_MIN : HA_MAX, y, x, HA_INCLUSIVE",
        "sparse_combine(HA_IS_LESS, at, y, at, x, at, x, number", "sort(x, op ? HA_ASCENDING : HA_DESCENDING",
        "norm(HA_NORM_2, x, number", "scan(HA_SUM, y, x, op ? HA_INCLUSIVE : HA_EXCLUSIVE")),
    *((f"a word of another function: {call}", WORDS % call, words) for call, words in (
        ("map(HA_SUM, y, x", "ha_map takes an operation of one argument"),
        ("combine(HA_MAX, y, x, x", "ha_combine takes an operation of two arguments"),
        ("combine(HA_SQRT, y, x, x", "ha_combine takes an operation of two arguments"),
        ("combine(HA_GREATER, y, x, x", "HA_ADD (not HA_SUM)"),
        ("combine_number(HA_MIN, y, x, 1", "HA_MINIMUM (not HA_MIN)"),
        ("scatter(HA_SUM, y, at, x", "ha_scatter takes an operation of two arguments"),
        ("reduce(HA_ADD, x, number", "HA_SUM (not HA_ADD)"),
        ("reduce_along(HA_MAXIMUM, y, x, 0", "ha_reduce_along takes a reduction"),
        ("scan(HA_ADD, y, x, HA_INCLUSIVE", "ha_scan takes a reduction"),
        ("scan_along(HA_MULTIPLY, y, x, 0, HA_INCLUSIVE", "ha_scan_along takes a reduction"),
        ("sparse_combine(HA_SUM, at, y, at, x, at, x, number", "ha_sparse_combine takes an operation"),
        ("norm(HA_MAX, x, number", "ha_norm takes HA_NORM_1, HA_NORM_2 or HA_NORM_MAX"),
        ("difference(HA_SUM, x, y, number", "ha_difference takes HA_NORM_1"),
        ("sort(x, HA_LESS", "ha_sort takes HA_ASCENDING or HA_DESCENDING"),
        ("sort(x, 1", "ha_sort takes HA_ASCENDING"), ("sorting(at, x, HA_GREATER", "ha_sorting takes HA_ASCENDING"),
        ("sort_by_key(at, x, HA_INCLUSIVE", "ha_sort_by_key takes HA_ASCENDING"),
        ("scan(HA_SUM, y, x, HA_ASCENDING", "ha_scan takes HA_INCLUSIVE or HA_EXCLUSIVE as its kind"),
        ("scan_along(HA_SUM, y, x, 0, 1", "ha_scan_along takes HA_INCLUSIVE"))),
    ("functions of another name of a type", TYPED % ("real", "c64_complex(z, f, f, NULL)"), "is no type of numbers"),
    ("functions of structs", TYPED % ("pair", "c64_complex(z, f, f, NULL)"), "is no type of numbers"),
]
NO_ARRAY = "this takes an array: a harray_T, an array_T_D or a darray"
ROW = "darray_slice(HA_DARRAY(%s), 0, 0, 1, 1)"
ARRAYS_OF_OPERATIONS = [
    *(f"ha_map(HA_SQRT, {y}, {x}, NULL)"
      for y, x in (("x", "c"), ("y", "x"), ("u", "e"), ("d", "d"), ("f->x", "*f->d"), ("f->u", "f->u"),
                   ("made()", "made()"), ("*more", "more[1]"), ("harray_double_from(x.array)", "harray_double_reading(x)"),
                   ("array_double_2_transpose(u)", "array_double_2_reading(u)"), (ROW % "u", ROW % (ROW % (ROW % "e"))))),
    "ha_axpy(f->x, 2, c, NULL)", "ha_reduce(HA_SUM, c, sum, NULL)", "ha_norm(HA_NORM_2, e, sum, NULL)",
    "darray_copy(HA_DARRAY(x), HA_DARRAY(c), NULL)"]
NO_ARRAYS = ["1", "2.5", "sum", "&x", "x.array", "r", "*w", "w", "made", '"x"', "room"] # of as many types
NUMBERS = ["1", "2.5f", "bits.few", "bits.some", "'a'", "1ll", "*sum", "x.array != HA_NULL_", "ha_c64_make(1, 2)", "ha_half_of_float(1)"]
RESULTS = ["sum", "&n", "room", "(int64_t *)0", "(ha_c64 *)0"]
NO_RESULTS = ["&sum", "&x", "(const double *)sum", "(long double *)0"]
NO_NUMBERS = ["sum", '"x"', "1.0L", "x"] # of as many types
READ_ONLY = [
    "ha_map(HA_SQRT, c, x, NULL)", "ha_map(HA_SQRT, e, u, NULL)", "ha_map(HA_SQRT, harray_double_reading(x), x, NULL)",
    "ha_combine(HA_ADD, c, x, x, NULL)", "ha_combine_number(HA_ADD, c, x, 1, NULL)", "ha_axpy(c, 2, x, NULL)",
    "ha_axpby(c, 2, x, 3, x, NULL)", "ha_clip(c, x, 0, 1, NULL)", "ha_where(c, x, x, x, NULL)",
    "ha_fill(c, 1, NULL)", "ha_sequence(c, 0, 1, NULL)", "ha_random(c, 1, NULL)", "ha_random_normal(c, 1, NULL)", "ha_gather(c, x, x, NULL)",
    "ha_scatter(HA_ADD, c, x, x, NULL)", "ha_find(c, x, sum, NULL)", "ha_compact(c, x, x, sum, NULL)",
    "ha_inverse(c, x, NULL)", "ha_sort(c, HA_ASCENDING, NULL)", "ha_sorting(c, x, HA_ASCENDING, NULL)",
    "ha_sort_by_key(c, x, HA_ASCENDING, NULL)", "ha_sort_by_key(x, c, HA_ASCENDING, NULL)",
    "ha_unique(c, x, sum, NULL)", "ha_lower_bound(c, x, x, NULL)", "ha_upper_bound(c, x, x, NULL)",
    "ha_reduce_along(HA_SUM, c, u, 0, NULL)", "ha_count_along(c, u, 0, NULL)",
    "ha_scan(HA_SUM, c, x, HA_INCLUSIVE, NULL)", "ha_scan_along(HA_SUM, e, u, 0, HA_INCLUSIVE, NULL)",
    "ha_scan_offsets(c, x, NULL)", "ha_differences(c, x, 0, NULL)", "ha_histogram(c, x, 0, 1, sum, NULL)",
    "ha_sparse_combine(HA_ADD, c, x, x, x, x, x, sum, NULL)", "ha_sparse_combine(HA_ADD, x, c, x, x, x, x, sum, NULL)"]


def operations(calls):
    return OPERATIONS % (" + " .join(calls))


CASES += [
    ("arrays of operations", operations(ARRAYS_OF_OPERATIONS), None),
    ("what is no array, as an argument", operations(f"ha_map(HA_SQRT, x, {it}, NULL)" for it in NO_ARRAYS), NO_ARRAY,
     len(NO_ARRAYS)),
    ("what is no array, as a result", operations(f"ha_map(HA_SQRT, {it}, x, NULL)" for it in NO_ARRAYS), NO_ARRAY,
     len(NO_ARRAYS)),
    ("what is no array, as a darray", operations(f"darray_equal(d, HA_DARRAY({it}), &n)" for it in NO_ARRAYS), NO_ARRAY,
     len(NO_ARRAYS)),
    ("numbers", operations(f"ha_fill(x, {it}, NULL)" for it in NUMBERS), None),
    ("what is no number", operations(f"ha_fill(x, {it}, NULL)" for it in NO_NUMBERS), "this takes a number",
     len(NO_NUMBERS)),
    ("numbers as results", operations(f"ha_norm(HA_NORM_2, x, {it}, NULL)" for it in RESULTS), None),
    *((f"what is no number as a result: {it}", operations([f"ha_norm(HA_NORM_2, x, {it}, NULL)"]),
       "this takes the address of a number", 1) for it in NO_RESULTS),
    *((f"a result for reading only: {call}", operations([call]), READING, 1) for call in READ_ONLY[:3]),
]
# Of a struct that is none of harray's C tells which member it has not. C++ tells each type once.
IN_C = [
    ("structs in an operation", operations(f"ha_map(HA_SQRT, x, {it}, NULL)" for it in ("o", "h")), "no member named"),
    ("results for reading only", operations(READ_ONLY), READING, len(READ_ONLY)),
    *((f"{header} before HARRAY_IMPLEMENTATION and behind it", TWICE % (header, header),
       "include harray.h before all others", 1)
      for header in ("harray.h", "harray_records.h", "harray_kernels.h", "harray_ops.h")),
]
IN_CXX = [("structs in an operation", operations(f"ha_map(HA_SQRT, x, {it}, NULL)" for it in ("o", "h")), NO_ARRAY, 2)]
COMPILERS = [("C", ["cc", "-std=c11", "-pedantic-errors"], ".c", CASES + IN_C),
             ("C++", ["c++", "-std=c++17"], ".cpp", CASES + IN_CXX)]


@functools.cache
def all_errors(compiler):
    """clang stops after 20 errors, gcc does not."""
    version = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return ["-ferror-limit=0"] if "clang" in version else []


def compile_error(command, suffix, program, folder):
    source = pathlib.Path(folder) / f"program{suffix}"
    source.write_text(program, encoding="utf-8")
    run = subprocess.run([*command, "-fsyntax-only", *all_errors(command[0]), f"-I{ROOT}", str(source)],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.stdout if run.returncode else None


def says(error, words, times=None):
    if error is None or words is None:
        return error is words
    said = sum("error: " in line and words in line for line in error.splitlines())
    return words in error and times in (None, said)


def main():
    cases = [(f"{name}, in {language}", command, suffix, *how)
             for language, command, suffix, programs in COMPILERS for name, *how in programs]
    failed = 0
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, command, suffix, program, *expected) in enumerate(cases, 1):
            error = compile_error(command, suffix, program, folder)
            good = says(error, *expected)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
            if not good:
                print(error, file=sys.stderr)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
