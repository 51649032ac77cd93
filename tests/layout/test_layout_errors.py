#!/usr/bin/env python3
"""Compiles programs with one mistake in a list of fields or in the use of a view: the first error has
to say which field it is, by its whole path, with every compiler that is here. And the program without
mistakes has to compile, so that it is the mistake that is refused."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
COMPILERS = [
    ["gcc", "-std=c11", "-x", "c"],
    ["clang", "-std=c11", "-x", "c"],
    ["g++", "-std=c++17", "-x", "c++"],
    ["clang++", "-std=c++20", "-x", "c++"],
]

PROGRAM = """\
#include "layout.h"
typedef struct body {{
    struct {{ double x, y; }} pos;
    float mass;{member}
    struct {{ double e[3][3]; }} link[4];
}} body;
#define body_FIELDS (double, pos, x), (float, mass), (double, link, (4), e, (3, 3)){extra}
HA_RECORD(body)
HA_VIEW(sky, body, 1, {layout})
HA_FN double f(sky v, body *b) {{
    (void)b;
    double sum = 0;
    HA_EACH(sky, v, at) sum += {use};
    return sum;
}}
"""

# What is wrong, how, and words that the first error has to have, one for each compiler if not for all.
GOOD = {"extra": "", "member": "", "layout": "HA_SOA", "use": "*sky_pos_x(v, at)"}
CASES = [
    ("a member that is not there", {"extra": ", (double, pos, w)"}, ["body_pos_w"]),
    ("a struct that is not there", {"extra": ", (double, poz, x)"}, ["body_poz_x"]),
    ("one in an array", {"extra": ", (double, link, (4), f, (3, 3))"}, ["body_link_f"]),
    ("another type", {"extra": ", (float, pos, y)"}, ["pos", "y", "is not of type", "float"]),
    ("a struct as a number", {"extra": ", (double, pos)"}, ["pos", "is not of type", "double"]),
    ("an array as a number", {"extra": ", (double, link, (4), e)"}, ["link", "e", "is not of type"]),
    ("other extents", {"extra": ", (double, link, (5), e, (3, 3))"},
     ["body_link_e", "other extents", "5"]),
    ("more subscripts", {"extra": ", (float, mass, (1))"}, ["body_mass"]),
    ("C's declaration", {"extra": ", double pos.y"}, ["HA_RECORD", "body", "no field", "double pos.y"]),
    ("a list that is not there", {"extra": ", cold_FIELDS"}, ["HA_RECORD", "no field", "cold_FIELDS"]),
    ("a field listed twice", {"extra": ", (float, mass)"}, ["mass"]),
    ("more alignment than memory has", {"member": "__attribute__((aligned(128))) char far;"},
     ["aligned to 64 bytes"]),
    ("a field that is not listed", {"use": "*sky_pos_y(v, at)"}, ["sky_pos_y"]),
    ("a pointer to what may be misaligned",
     {"layout": "HA_AOS_PACKED", "use": "*sky_link_e(v, at, 1, 2, 2)"},
     ["ha_may_misalign_so_use_get_and_set_"]),
    ("structs as another layout", {"use": "*sky_pos_x(sky_of(b, 1), at)"},
     ["sky_of|ha_only_an_aos_view_is_of_records_"]),
    ("counting what is known at run time only", {"layout": "HA_COUNTED(HA_ANY)"},
     ["HA_ANY: what is counted is said by the mapping"]),
    ("no granules", {"layout": "HA_HEATMAP(HA_SOA, 0)"}, ["HA_HEATMAP: 1 to 1048576 bytes"]),
    ("large granules", {"layout": "HA_HEATMAP(HA_SOA, 1048577)"}, ["HA_HEATMAP: 1 to 1048576 bytes"]),
    ("storing by a const view", {"use": "(*sky_const_pos_x(sky_reading(v), at) = 1)"},
     ["read-only|const"]),
]


def first_error(compiler, text):
    """None if it compiles."""
    command = [*compiler, *WARNINGS, "-I", str(ROOT), "-fsyntax-only", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    errors = [line for line in run.stderr.splitlines() if "error" in line]
    if run.returncode == 0:
        return None
    return errors[0] if errors else run.stderr


def main():
    failed = 0
    compilers = [c for c in COMPILERS if shutil.which(c[0])]
    if not compilers:
        sys.exit(77)
    for compiler in compilers:
        for name, change, words in [("no mistake", {}, None), *CASES]:
            line = first_error(compiler, PROGRAM.format(**{**GOOD, **change}))
            if words is None:
                good = line is None
            else:
                good = line is not None and all(
                    any(part in line for part in word.split("|")) for word in words)
            if not good:
                failed = 1
                print(f"{compiler[0]}: {name}: the first error is\n    {line}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
