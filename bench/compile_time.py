#!/usr/bin/env python3
"""What harray costs to compile: the include, one HARRAY(T), one kernel, and the implementation, of harray.h alone,
with layout.h, with harray_records.h, with harray_kernels.h and with harray_ops.h; and of these how large the code is.

Each figure compiles a file with and a file without what is measured, in turns; the time is the
median of the differences. It is processor time, which hardly depends on what else is running.
Prints the same JSON lines as the other benchmarks.

usage: compile_time.py [--smoke] [--pairs N] [--only TEXT] [COMPILER ...]   (default: gcc clang)
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = '#include "harray.h"\n'
WITHOUT_ARRAYS = "#define HARRAY_NDARRAY_H\n" + INCLUDE
TYPES = 200
INSTANCES = "".join(f"typedef struct {{ double x; }} type_{i};\nHARRAY(type_{i});\n"
                    for i in range(TYPES))
EMPTY = "typedef int nothing;\n"

# The implementation, with what is included behind it; and a program that calls little of it.
IMPLEMENTATION = "#define HARRAY_IMPLEMENTATION\n" + INCLUDE
WITH_LAYOUT = IMPLEMENTATION + '#include "layout.h"\n'
WITH_RECORDS = WITH_LAYOUT + '#include "harray_records.h"\n'
WITH_KERNELS = WITH_RECORDS + '#include "harray_kernels.h"\n'
WITH_OPERATIONS = WITH_KERNELS + '#include "harray_ops.h"\n'
KERNELS_INCLUDE = '#include "harray_kernels.h"\n'
OPERATIONS_INCLUDE = '#include "harray_ops.h"\n'
KERNELS = 20

PROGRAM = IMPLEMENTATION + """
int main(void) {
    harray_double x = harray_double_zeros(1000);
    HA_WRITING(v, x, ha_host()) v.data[999] = 1;
    HA_READING(v, x, ha_host()) printf("%g\\n", v.data[999]);
    harray_double_free(&x);
    return 0;
}
"""


# Of operations none, or one, is called; all others are there for the compiler to leave out.
OPERATES = """#define HARRAY_IMPLEMENTATION
#include "harray_ops.h"
int main(void) {
    harray_double x = harray_double_zeros(1000), y = harray_double_zeros(1000);
    CALLS
    return harray_double_free(&x) != HA_OK || harray_double_free(&y) != HA_OK;
}
"""
OPERATES_NOT = OPERATES.replace("CALLS", "")


def calling(call):
    return OPERATES.replace("CALLS", f"if ({call}) return 1;")


AXPY_OF_OPS = calling("ha_axpy(y, 2, x, ha_host())")
ONE_CALLED = {
    "ha_axpy": AXPY_OF_OPS,
    "ha_map": calling("ha_map(HA_SQRT, y, x, ha_host())"),
    "ha_combine": calling("ha_combine(HA_ADD, y, x, x, ha_host())"),
    "ha_random": calling("ha_random(x, 1, ha_host())"),
    "ha_reduce": calling("ha_reduce(HA_SUM, x, &(double){0}, ha_host())"),
    "ha_reduce_along": calling("ha_reduce_along(HA_SUM, y, x, 0, ha_host())"),
    "ha_scan": calling("ha_scan(HA_SUM, y, x, HA_INCLUSIVE, ha_host())"),
    "ha_gather": calling("ha_gather(y, x, x, ha_host())"),
    "ha_sort": calling("ha_sort(x, HA_ASCENDING, ha_host())"),
}
AXPY_OF_KERNELS = (OPERATES_NOT.replace("harray_ops.h", "harray_kernels.h")
    .replace("int main", "HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i, "
                         "{ y[i] += a * x[i]; });\nint main")
    .replace("    return", "    if (axpy(ha_host(), HA_ALL_LANES, 2, x, y)) return 1;\n    return"))
OF_DOUBLE = "-DHARRAY_OPS_TYPES=double"
STATIC = "-DHARRAY_STATIC"
TYPED_OPS = OPERATIONS_INCLUDE + "HA_OPS(double);\n"


def kernels(text):
    """So many of one, each called once."""
    return KERNELS_INCLUDE + "".join(text.replace("NAME", f"kernel_{i}") for i in range(KERNELS))


AXPY = """HA_KERNEL(NAME, ((value, double, a), (in, double, x), (inout, double, y)), i, { y[i] += a * x[i]; });
ha_status call_NAME(harray_double x, harray_double y) { return NAME(ha_host(), HA_ALL_LANES, 2, x, y); }
"""
STENCIL = """HA_KERNEL(NAME, ((value, float, k), (in, array_float_2, u), (out, array_float_2, w)), (j, i), {
    HA_AT(w, j, i) = HA_AT(u, j, i) + k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) + HA_AT(u, j, i - 1) +
                                           HA_AT(u, j, i + 1) - 4 * HA_AT(u, j, i));
});
ha_status call_NAME(ha_region box, array_float_2 u, array_float_2 w) { return NAME_in(ha_host(), box, 1, u, w); }
"""
SUM = """HA_REDUCE(NAME, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);
ha_status call_NAME(harray_double x, double *d) { return NAME(ha_host(), HA_ALL_LANES, x, x, d); }
"""

# The loops of bench/nbody, as they are written once for each layout, and by hand for one.
BODY = """#include "bench/nbody/body.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { BODIES = 4099 };
"""
BY_HAND = BODY + """
static void kick(body *all, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const body p = all[i];
        for (body *q = all; q < all + n; q++)
            KICK(p.pos.x, p.pos.y, p.pos.z, q->mass, q->pos.x, q->pos.y, q->pos.z, q->vel.x,
                 q->vel.y, q->vel.z);
    }
}
static void drift(body *all, ptrdiff_t n, float dt) {
    for (body *q = all; q < all + n; q++)
        DRIFT(dt, q->pos.x, q->pos.y, q->pos.z, q->vel.x, q->vel.y, q->vel.z);
}
int main(void) {
    body *all = calloc(BODIES, sizeof *all);
    if (all == NULL) return 1;
    kick(all, BODIES);
    drift(all, BODIES, 0.1f);
    printf("%g\\n", (double)all[1].pos.x);
    free(all);
    return 0;
}
"""
RECORD = BODY + """#include "layout.h"
#define body_FIELDS \\
    (float, pos, x), (float, pos, y), (float, pos, z), (float, vel, x), (float, vel, y), \\
        (float, vel, z), (float, mass)
HA_RECORD(body)
"""
MAPPED = """
HA_VIEW(NAME, body, 1, LAYOUT)
static void kick_NAME(NAME v, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const body p = NAME_load(v, NAME_at(v, i));
        HA_EACH(NAME, v, at)
            KICK(p.pos.x, p.pos.y, p.pos.z, *NAME_mass(v, at), *NAME_pos_x(v, at), *NAME_pos_y(v, at),
                 *NAME_pos_z(v, at), *NAME_vel_x(v, at), *NAME_vel_y(v, at), *NAME_vel_z(v, at));
    }
}
static void drift_NAME(NAME v, float dt) {
    HA_EACH(NAME, v, at)
        DRIFT(dt, *NAME_pos_x(v, at), *NAME_pos_y(v, at), *NAME_pos_z(v, at), *NAME_vel_x(v, at),
              *NAME_vel_y(v, at), *NAME_vel_z(v, at));
}
void run_NAME(NAME v) {
    kick_NAME(v, BODIES);
    drift_NAME(v, 0.1f);
    printf("%g\\n", (double)*NAME_pos_x(v, NAME_at(v, 1)));
}
"""
THREE = RECORD + "".join(MAPPED.replace("LAYOUT", layout).replace("NAME", name) for name, layout in
                         [("aos", "HA_AOS"), ("soa", "HA_SOA"), ("blocks", "HA_AOSOA(16)")])

# The force loop of bench/md for a layout that is known when it is compiled, and for one that is known at
# run time only: one of two, and any.
FORCES = """#include "layout.h"
#include "bench/md/particle.h"
#define particle_FIELDS \\
    (double, r, (3)), (double, p, (3)), (double, f, (3)), (double, charge), (double, energy), (int, type)
HA_RECORD(particle)
HA_VIEW(sky, particle, 1, LAYOUT)
#define VIEW sky
#include "bench/md/through_view.h"
void forces(const sky *p, const md *s, md_sums *sums);
void forces(const sky *p, const md *s, md_sums *sums) {
    sky v = *p;
    HA_WITH(v, forces_sky(v, s, sums));
}
"""
FORCES_IN = {name: FORCES.replace("LAYOUT", name)
             for name in ("HA_AOS", "HA_SOA_FIELDS", "HA_ANY_OF(HA_AOS, HA_SOA_FIELDS)", "HA_ANY")}

# Sixty fields, and a view of them in each of six layouts.
LAYOUTS = ["HA_AOS", "HA_AOS_PACKED", "HA_SOA", "HA_SOA_SINGLE", "HA_AOSOA(8)", "HA_AOSOA(16)"]
SIXTY = ('#include "layout.h"\ntypedef struct wide { double '
         + ", ".join(f"f{i}" for i in range(60)) + "; } wide;\n#define wide_FIELDS "
         + ", ".join(f"(double, f{i})" for i in range(60)) + "\nHA_RECORD(wide)\n"
         + "".join(f"HA_VIEW(view_{k}, wide, 1, {layout})\n" for k, layout in enumerate(LAYOUTS)))

# figure, text under test, text without it, what that is, options, repetitions in it, bound in s
FIGURES = [
    ("include", INCLUDE, EMPTY, "empty file", ["-fsyntax-only"], 1, 0.05),
    ("include of kernels", KERNELS_INCLUDE, EMPTY, "empty file", ["-fsyntax-only"], 1, 0.06),
    ("include of operations", OPERATIONS_INCLUDE, KERNELS_INCLUDE, "include of kernels", ["-fsyntax-only"], 1, 0.01),
    ("one HA_OPS(T)", TYPED_OPS, OPERATIONS_INCLUDE, "include of operations", ["-fsyntax-only"], 1, None),
    *((f"one {name}, {level}", kernels(text), KERNELS_INCLUDE, "include of kernels", [level], KERNELS,
       0.03 if level == "-O2" else None)
      for level in ("-O0", "-O2")
      for name, text in (("kernel", AXPY), ("stencil", STENCIL), ("reduction", SUM))),
    ("ready-made arrays of n dimensions", INCLUDE, WITHOUT_ARRAYS, "include without them",
     ["-fsyntax-only"], 1, 0.1),
    ("one HARRAY(T)", INCLUDE + INSTANCES, INCLUDE, "include", ["-fsyntax-only"], TYPES, None),
    *((f"implementation{name} {level}", text, EMPTY, "empty file", [level], 1, None)
      for level in ("-O0", "-O2")
      for name, text in (("", IMPLEMENTATION), (" with layouts", WITH_LAYOUT),
                         (" with record arrays", WITH_RECORDS), (" with kernels", WITH_KERNELS))),
    *((f"a small program{name} {level}", PROGRAM, EMPTY, "empty file", [level, *options], 1, None)
      for level in ("-O0", "-O2")
      for name, options in (("", []), (", HARRAY_STATIC", ["-DHARRAY_STATIC"]))),
    *((f"implementation with operations{name} {level}", WITH_OPERATIONS, EMPTY, "empty file", [level, *options], 1, None)
      for level in ("-O0", "-O2") for name, options in (("", []), (" of double", [OF_DOUBLE]))),
    *((f"a program with {name}, HARRAY_STATIC -O2", text, EMPTY, "empty file", ["-O2", STATIC, *options], 1, None)
      for name, text, options in (("a kernel", AXPY_OF_KERNELS, []), ("operations, but none called", OPERATES_NOT, []),
                                  *((name, text, []) for name, text in ONE_CALLED.items()),
                                  ("ha_axpy of double", AXPY_OF_OPS, [OF_DOUBLE]))),
    ("n-body by hand, -O3", BY_HAND, EMPTY, "empty file", ["-O3", "-fno-math-errno"], 1, None),
    ("n-body in three layouts, -O3", THREE, EMPTY, "empty file", ["-O3", "-fno-math-errno"], 1, 0.5),
    *((f"a force loop of 200 lines, {layout}", text, EMPTY, "empty file", ["-O3", "-fno-math-errno"], 1,
       2 if "_OF" in layout else None)
      for layout, text in FORCES_IN.items()),
    ("60 fields in six layouts", SIXTY, EMPTY, "empty file", ["-fsyntax-only"], 1, 0.3),
    ("60 fields in six layouts, -O2", SIXTY, EMPTY, "empty file", ["-O2"], 1, 0.3),
]


def compile_ns(compiler, options, source, output):
    command = [compiler, "-std=c11", f"-I{ROOT}", *options, "-c", source, "-o", output]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{compiler} failed with exit status {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e9


def text_bytes(output):
    """Code and constants of an object file, as `size` tells it."""
    told = subprocess.run(["size", output], capture_output=True, text=True, check=True).stdout
    return int(told.splitlines()[1].split()[0])


def measure(figure, compiler, pairs, folder):
    name, text, base_text, base_name, options, repetitions, bound = figure
    source, base, output = folder / "with.c", folder / "without.c", folder / "out.o"
    source.write_text(text)
    base.write_text(base_text)
    cost, reference, ratio = [], [], []
    for _ in range(pairs):
        without = compile_ns(compiler, options, base, output)
        whole = compile_ns(compiler, options, source, output)
        cost.append((whole - without) / repetitions)
        reference.append(without)
        ratio.append(cost[-1] / without)
    line = {
        "figure": name, "variant": compiler, "ns": round(statistics.median(cost)),
        "ns_min": round(min(cost)), "reference": f"compiling: {base_name}",
        "reference_ns": round(statistics.median(reference)), "reference_ns_min": round(min(reference)),
        "ratio": round(statistics.median(ratio), 3), "ratio_min": round(min(ratio), 3),
        "ratio_max": round(max(ratio), 3), "pairs": pairs,
    }
    if "-fsyntax-only" not in options:
        line["text_bytes"] = text_bytes(output)
    if bound is not None:
        line["bound_ns"] = round(bound * 1e9)
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true",
                        help="one pair each of what compiles quickly, with one compiler; most of it is parsed only")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="", help="figures whose name contains this")
    parser.add_argument("compilers", nargs="*", default=["gcc", "clang"])
    arguments = parser.parse_args()
    compilers, figures = list(filter(shutil.which, arguments.compilers)), FIGURES
    if arguments.smoke:
        arguments.pairs, compilers = 1, compilers[:1]
        figures = [(*figure[:4], figure[4] if figure[0] in ("include", "implementation -O0") else ["-fsyntax-only"], *figure[5:])
                   for figure in FIGURES if "-O2" not in figure[4]]
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            for figure in figures:
                if arguments.only in figure[0]:
                    measure(figure, compiler, arguments.pairs, pathlib.Path(folder))


if __name__ == "__main__":
    main()
