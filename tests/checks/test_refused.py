#!/usr/bin/env python3
"""Checks what is refused when it is compiled, in words that say what is meant. Prints TAP.

usage: test_refused.py
"""
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
WORDS = """#include "harray_ops.h"
ha_status run(harray_double x, harray_double y, harray_int32_t at, int op, ha_reduction by, double *number);
ha_status run(harray_double x, harray_double y, harray_int32_t at, int op, ha_reduction by, double *number) {
    (void)at, (void)op, (void)by, (void)number;
    return ha_%s, NULL);
}
"""
POINTER = "HA_USE: the member is no pointer"
READING = "for reading only"
# name, program, words of the error: none where it compiles
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
        "sparse_combine(HA_IS_LESS, at, y, at, x, at, x, number")),
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
        ("sparse_combine(HA_SUM, at, y, at, x, at, x, number", "ha_sparse_combine takes an operation"))),
    ("functions of another name of a type", TYPED % ("real", "c64_complex(z, f, f, NULL)"), "is no type of numbers"),
    ("functions of structs", TYPED % ("pair", "c64_complex(z, f, f, NULL)"), "is no type of numbers"),
]
COMPILERS = [("C", ["cc", "-std=c11", "-pedantic-errors"], ".c"), ("C++", ["c++", "-std=c++17"], ".cpp")]


def compile_error(command, suffix, program, folder):
    source = pathlib.Path(folder) / f"program{suffix}"
    source.write_text(program, encoding="utf-8")
    run = subprocess.run([*command, "-fsyntax-only", f"-I{ROOT}", str(source)],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.stdout if run.returncode else None


def main():
    cases = [(f"{name}, in {language}", program, words, command, suffix)
             for name, program, words in CASES for language, command, suffix in COMPILERS]
    failed = 0
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, program, words, command, suffix) in enumerate(cases, 1):
            error = compile_error(command, suffix, program, folder)
            good = error is None if words is None else error is not None and words in error
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
            if not good:
                print(error, file=sys.stderr)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
