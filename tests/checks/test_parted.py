#!/usr/bin/env python3
"""Checks that a program in one file (HARRAY_STATIC) has no operations but those that it calls. One object has a function
for each operation; that which follows from one of them alone, as a linker finds it that drops sections, is what a
compiler keeps of a program that has no other one. Prints TAP.

usage: test_parted.py COMPILER...
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = """#define HARRAY_STATIC
#define HARRAY_IMPLEMENTATION
#include "harray_ops.h"
#define CALLS(name, call) \\
    ha_status calls_##name(darray x, darray y, darray at); \\
    ha_status calls_##name(darray x, darray y, darray at) { \\
        double number = 0; \\
        int count = 0; \\
        (void)x, (void)y, (void)at, (void)number, (void)count; \\
        return call; \\
    }
"""
TYPES = "(ha_c64|ha_c128|float|double|u?int(8|16|32|64)_t)"
MAPS = ("(negate|square|abs|sign|conjugate|reciprocal|sqrt|cbrt|exp|expm1|log|log1p|sin|cos|tan|asin|acos|atan|sinh|cosh|"
        "tanh|erf|floor|ceil|round|trunc|real_part|imaginary_part|argument|is_nan|is_finite)")
JOINS = "(add|multiply|minimum|maximum)"
COMBINES = (f"({JOINS}|subtract|subtract_from|divide|divide_into|abs_maximum|abs_difference|modulo|power|atan2|hypot|"
            "copysign|complex|is_equal|is_not_equal|is_less|is_less_equal|is_greater|is_greater_equal)")
NONE = "(?!)"
FAMILIES = "part across sort scan scatter histogram"
# what is called; the operations whose rows it may have; which of the families it may have
CALLS = {
    "none": ("HA_OK", NONE, ""),
    "copy": ("darray_copy(y, x, ha_host())", "fill", ""),  # copies and fills at devices are found together
    "fill": ("darray_fill(y, ha_dvalue_of_double(1), ha_host())", "fill", ""),
    "map": ("ha_map(HA_SQRT, y, x, ha_host())", MAPS, ""),
    "combine": ("ha_combine(HA_ADD, y, x, x, ha_host())", COMBINES, ""),
    "axpy": ("ha_axpy(y, 2, x, ha_host())", "axpy", ""),
    "axpby": ("ha_axpby(y, 2, x, 1, y, ha_host())", "axpby", ""),
    "clip": ("ha_clip(y, x, 0, 1, ha_host())", "clip", ""),
    "where": ("ha_where(y, at, x, y, ha_host())", "choose", ""),
    "sequence": ("ha_sequence(y, 0, 1, ha_host())", "sequence", ""),
    "random": ("ha_random(y, 1, ha_host())", "random(_small)?", ""),
    "normal": ("ha_random_normal(y, 1, ha_host())", "normal", ""),
    "reduce": ("ha_reduce(HA_SUM, x, &number, ha_host())", "value", "part"),
    "count": ("ha_count(x, &count, ha_host())", "is_there", "part"),
    "dot": ("ha_dot(x, y, &number, ha_host())", "product_of", "part"),
    "norm": ("ha_norm(HA_NORM_2, x, &number, ha_host())", "(abs|square)_of", "part"),
    "difference": ("ha_difference(HA_NORM_2, x, y, &number, ha_host())", "(abs_difference_of|square_of_difference)", "part"),
    "along": ("ha_reduce_along(HA_SUM, y, x, 0, ha_host())", "(value|fill)", "part across"),
    "sort": ("ha_sort(y, HA_ASCENDING, ha_host())", "fill", "sort"),
    "unique": ("ha_unique(y, x, &count, ha_host())", "(is_not_equal|fill)", ""),
    "gather": ("ha_gather(y, x, at, ha_host())", "(gather_.*|fill)", ""),
    "scatter": ("ha_scatter(HA_ADD, y, at, x, ha_host())", f"({JOINS}|fill)", "scatter sort"),
    "scan": ("ha_scan(HA_SUM, y, x, HA_INCLUSIVE, ha_host())", f"({JOINS}|fill)", "scan"),
    "histogram": ("ha_histogram(at, x, 0, 1, &count, ha_host())", "(value|fill)", "part histogram"),
    "differences": ("ha_differences(y, x, 0, ha_host())", "subtract", ""),
}


def kept(compiler, folder, name):
    """The functions that follow from this one."""
    linked = folder / name
    subprocess.run([*compiler, "-r", "-nostdlib", "-Wl,--gc-sections", f"-Wl,--entry=calls_{name}",
                    str(folder / "all.o"), "-o", str(linked)], check=True)
    told = subprocess.run(["nm", str(linked)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split(".")[0] for line in told.splitlines()}


def main():
    compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "all.c").write_text(SOURCE + "".join(f"CALLS({name}, {call[0]})\n" for name, call in CALLS.items()))
        subprocess.run([*compiler, "-std=c11", f"-I{ROOT}", "-ffunction-sections", "-fdata-sections", "-c",
                        str(folder / "all.c"), "-o", str(folder / "all.o")], check=True)
        failed = 0
        print(f"1..{len(CALLS)}")
        for n, (name, (_, rows, families)) in enumerate(CALLS.items(), 1):
            functions = kept(compiler, folder, name)
            there = {m[1] for m in map(re.compile(f"ha_row_(.*)_{TYPES}").fullmatch, functions) if m}
            wrong = sorted(word for word in there if not re.fullmatch(rows, word))
            for family in FAMILIES.split():
                pattern = f"ha_{family}_" + ("(sum|product|min|max)_" if family in ("part", "across") else "")
                found = sorted(f for f in functions if re.match(pattern, f))
                if found and family not in families.split(): wrong += found
                if not found and family in families.split(): wrong.append(f"no {family}: look for its new name")
            if f"calls_{name}" not in functions or not there and rows not in (NONE, "fill"):
                wrong.append("no rows: look for their new names")
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {n} - {name}: what it does not call is not there")
            if wrong: print("# it has " + " ".join(wrong[:20]))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
