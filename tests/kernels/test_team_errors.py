#!/usr/bin/env python3
"""Programs with one mistake in a team kernel: the first error says what is wrong."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "harray_kernels.h"
HA_TEAM_KERNEL(sums, {lanes}, {teams}, ((value, int64_t, n), (in, float, x), ({mode}, float, y)), {{
    HA_LOCAL({type}, a, {size});
    HA_PRIVATE(float, mine);
    HA_LANES(l) {{
        HA_MINE(mine, l) = 0;
        HA_SHARE(i, l, 0, HA_LESS(n, HA_SIZE(x))) HA_MINE(mine, l) += x[i];
        a[l] = ({type})HA_MINE(mine, l);
    }}
    HA_LANES(l) if (l < {size}) {use}
    HA_LANES_ALONE(l) if (l == 0) {{
        ha_global_max(&y[{index}], (float)a[0]);
        (void)ha_global_load(&y[{index}]);
    }}
    HA_FENCE_LOCAL();
    HA_FENCE_GLOBAL();
    HA_BARRIER_LOCAL();
}});
HA_KERNEL(alone, ((in, float, x), (out, float, y)), i, {{ {alone} }});
ha_status f(harray_float x, harray_float y);
ha_status f(harray_float x, harray_float y) {{
    const ha_status s = alone(ha_host(), HA_ALL_LANES, x, y);
    return s ? s : sums(ha_host(), {launched}, 10, x, y);
}}
"""

GOOD = {"lanes": "64", "teams": "g", "mode": "inout", "type": "float", "size": "HA_TEAM", "index": "g",
        "use": "ha_local_add(&a[0], a[l]);", "alone": "y[i] = x[i];", "launched": "HA_TEAMS(64, 10)"}
CASES = [
    ("double", {"type": "double"}, None),
    ("integers", {"type": "uint32_t", "use": "ha_local_compare_exchange(&a[l], 1u, 2u);"}, None),
    ("a macro of the language", {"lanes": "sizeof(float) * 8"}, None),
    ("no lanes", {"lanes": "0"}, ["sums: a team has 1 to 1,024 lanes"]),
    ("too many lanes", {"lanes": "1025"}, ["sums: a team has 1 to 1,024 lanes"]),
    ("lanes of two dimensions", {"lanes": "(4, 16)"}, ["sums has other dimensions of lanes than of teams"]),
    ("teams of two dimensions", {"teams": "(gy, gx)", "index": "gx"},
     ["sums has other dimensions of lanes than of teams"]),
    ("writing what is read", {"mode": "in"}, ["y|read-only|const|discards|ha_p_"]),
    ("atomics of small numbers", {"type": "short"}, ["atomics are of int32_t"]),
    ("bits of reals", {"use": "ha_local_and(&a[0], a[l]);"}, ["&|operand"]),
    ("lanes where there is no team", {"alone": "HA_LANES(l) y[i] = x[l];"}, ["HA_TEAM_X"]),
    ("local memory where there is no team", {"alone": "HA_LOCAL(float, a, 4); y[i] = x[i];"}, ["HA_TEAM"]),
    ("a barrier where there is no team", {"alone": "HA_BARRIER(); y[i] = x[i];"}, ["HA_TEAM"]),
]


if __name__ == "__main__":
    compile_errors.check(PROGRAM, GOOD, CASES)
