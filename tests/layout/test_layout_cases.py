#!/usr/bin/env python3
"""For how many layouts is a loop compiled? The loop has a mark in it, an empty piece of assembly, which is
counted in what the compiler makes.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
#include "layout.h"
typedef struct {{ double r[3]; float mass; }} star;
#define star_FIELDS (double, r, (3)), (float, mass)
HA_RECORD(star)
HA_VIEW(sky, star, 1, {layout})
HA_FN void mark(sky v) {{ __asm__ volatile("/* the loop %0 */" ::"m"(*sky_r(v, sky_at(v, 3), 1))); }}
void loop(sky v);
void loop(sky v) {{ {use}; }}
"""
ALL = 10  # nine layouts, and all others
CASES = [  # layout, what is done with the view, how many copies there are
    ("HA_ANY", "HA_WITH(v, mark(v))", ALL),
    ("HA_ANY_OF(HA_AOS, HA_SOA_FIELDS)", "HA_WITH(v, mark(v))", 2),
    ("HA_ANY", "HA_WITH_ONLY(v, (HA_AOS, HA_AOSOA(8), HA_SOA), mark(v))", 3),
    ("HA_ANY_OF(HA_AOS, HA_SOA)", "HA_WITH_ONLY(v, (HA_SOA), mark(v))", 1),
    ("HA_SOA", "HA_WITH(v, mark(v))", 1),
    ("HA_AOSOA(4)", "HA_WITH_ONLY(v, (HA_AOS), mark(v))", 1),
    ("HA_ANY", "mark(v)", 1),
]


def copies(compiler, level, layout, use):
    command = [compiler, "-std=c11", level, "-I", str(ROOT), "-x", "c", "-S", "-", "-o", "-"]
    text = PROGRAM.format(layout=layout, use=use)
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(made.stderr)
    return made.stdout.count("the loop")


def main():
    failed = 0
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    if not compilers:
        sys.exit(77)
    for compiler in compilers:
        for level in ("-O1", "-O2"):
            for layout, use, expected in CASES:
                found = copies(compiler, level, layout, use)
                if found != expected:
                    failed = 1
                    print(f"{compiler} {level}: {layout}, {use}: {found} copies, not {expected}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
