#!/usr/bin/env python3
"""With HARRAY_NO_BARE_VIEWS a loop over a view HA_ANY outside of HA_WITH, which no layout is known to, does not
compile; those that know it do, and without that word all do."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "layout.h"
typedef struct body { float x, m; } body;
#define body_FIELDS (float, x), (float, m)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_VIEW(two, body, 1, HA_ANY_OF(HA_AOS, HA_SOA))
HA_VIEW(soa, body, 1, HA_SOA)
HA_FN void drift(sky v, float dt) { HA_EACH(sky, v, at) *sky_x(v, at) += dt; }
HA_FN void drift_two(two v, float dt) { HA_EACH(two, v, at) *two_x(v, at) += dt; }
HA_FN float sum(sky_const v) { float s = 0; HA_EACH(sky_const, v, at) s += *sky_const_x(v, at); return s; }
float all(const sky *p, const two *q, const soa *r);
float all(const sky *p, const two *q, const soa *r) {
    sky v = *p;
    two w = *q;
    float s = 0;
    HA_EACH(soa, *r, at) *soa_x(*r, at) += 1;
    STATEMENTS
    return s;
}
"""
KNOWN = ["HA_WITH(v, drift(v, 2));", "HA_WITH_ONLY(v, (HA_AOS, HA_SOA), drift(v, 2));", "HA_WITH(w, drift_two(w, 2));",
         "HA_WITH(v, s += sum(sky_reading(v)));", "*sky_x(v, sky_at(v, 3)) = 1; (void)w;"]
BARE = ["drift(v, 2);", "drift_two(w, 2);", "s += sum(sky_reading(v));", "HA_EACH(sky, v, at) *sky_x(v, at) = 1;",
        "HA_EACH_IN(sky, v, at, ha_box1(2, 3)) *sky_x(v, at) = 1;"]
REFUSING = ["-DHARRAY_NO_BARE_VIEWS"]
SAYS = "whose layout is not known here"


def errors(compiler, statements, options):
    """What the compiler says; None if it compiles."""
    command = [*compiler, "-Wall", "-Wextra", "-I", str(compile_errors.ROOT), "-O1", *options, "-c", "-o", "/dev/null", "-"]
    text = PROGRAM.replace("STATEMENTS", "(void)v; (void)w; " + statements)
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else None


def main():
    failed = 0
    compilers = [c for c in compile_errors.COMPILERS if shutil.which(c[0])]
    if not compilers:
        sys.exit(77)
    for compiler in compilers:
        for statements, options, refused in [(" ".join(KNOWN), REFUSING, 0), (" ".join(KNOWN + BARE), [], 0),
                                             *((bare, REFUSING, 1) for bare in BARE)]:
            said = errors(compiler, statements, options)
            fine = SAYS in (said or "") if refused else said is None
            if not fine:
                failed = 1
                print(f"{compiler[0]}: {statements}\n    {said}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
