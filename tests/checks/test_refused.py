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
HA_OPS(%s);
ha_status run(harray_double x, harray_float f, harray_int32_t at, darray d);
ha_status run(harray_double x, harray_float f, harray_int32_t at, darray d) {
    (void)f, (void)d;
    return harray_double_%s;
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
    ("a function of a type", TYPED % ("double", "gather(x, x, at, NULL)"), None),
    ("a function of a type with arrays of another", TYPED % ("double", "axpy(x, 2, f, NULL)"), "harray_float"),
    ("a function of a type with a view", TYPED % ("double", "axpy(x, 2, d, NULL)"), "darray"),
    ("a function of a type with other indices", TYPED % ("double", "gather(x, x, x, NULL)"), "harray_int32_t"),
    ("functions of structs", TYPED % ("pair", "axpy(x, 2, x, NULL)"), "is no type of numbers"),
]
COMPILERS = [("C", ["cc", "-std=c11"], ".c"), ("C++", ["c++", "-std=c++17"], ".cpp")]


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
