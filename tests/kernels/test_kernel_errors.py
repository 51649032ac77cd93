#!/usr/bin/env python3
"""Programs with one mistake in a kernel or in how it is called: the first error names what is wrong."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "harray_kernels.h"
typedef double *address;
typedef double real3[3];
typedef struct {{ double x; {member} }} point;
#define point_FIELDS (double, x){field}
HA_RECORD(point)
HARRAY(point);
HA_VIEW(line, point, 1, HA_ANY)
HA_RECORDS(points, line);
HA_BUNDLE(tables, (in, double, energy), {bundled});
HA_DEVICE_CODE(half_of, HA_FN double half_of(double x) {{ return x / 2; }});
HA_KERNEL(axpy, ({first}(value, double, a), (in, double, x), (inout, double, y)), i, {{
    {body}
}});
HA_KERNEL_EACH(shift, (points, p, "write x"), ((value, double, by){each}), at, {{ {lane} }});
HA_KERNEL(smooth, ((in, array_float_2, u), (out, array_float_2, w)), (j, i), {{ {stencil} }});
#ifdef __cplusplus
namespace app {{
typedef struct {{ double x; }} spot;
#define spot_FIELDS (double, x)
HA_RECORD(spot)
HARRAY(spot);
HA_KERNEL(lift, ((in, spot, s), (value, spot, by), (inout, double, y)), i, {{
    y[i] += s[i].x + by.x;
}});
static_assert(ha_record_found_<spot>() == &spot_record && !ha_record_found_<double>(), "a record");
}}
#endif
ha_status f(harray_double x, harray_float z, tables t, points p, array_float_2 u);
ha_status f(harray_double x, harray_float z, tables t, points p, array_float_2 u) {{
    (void)x, (void)z, (void)t, (void)p, (void)u;
    return {call};
}}
"""

GOOD = {"member": "", "field": "", "bundled": "(value, int, n)", "first": "",
        "body": "y[i] += a * x[i];", "each": "", "lane": "*line_x(p, at) += by;",
        "stencil": "HA_AT(w, j, i) = HA_AT(u, j, i);",
        "call": "axpy(ha_host(), HA_ALL_LANES, 0.5, x, x)"}
MANY = "".join(f"(value, int, v{k}), " for k in range(12))
CASES = [
    ("a mode that is none", {"first": "(input, double, z), "}, ["axpy", "input", "z", "the modes"]),
    ("a mode that is none in a bundle", {"bundled": "(use, points, p, \"read\")"},
     ["tables", "use", "p", "members"]),
    ("a mode that is none of records", {"each": ", (read, double, z)"}, ["shift", "read", "z", "the modes"]),
    ("an option that is none", {"first": "(option, blok, 64), "}, ["axpy", "blok", "the options"]),
    ("a pointer as a value", {"first": "(value, address, z), "}, ["axpy", "z", "pointer"]),
    ("an array of C as a value", {"first": "(value, real3, z), "}, ["axpy", "z", "array of C"]),
    ("a pointer in a bundle", {"bundled": "(value, address, z)"}, ["tables", "z", "pointer"]),
    ("a view as a constant", {"first": "(constant, array_float_2, z), "}, ["axpy", "z", "view"]),
    ("a type without arrays", {"first": "(in, real3, z), "}, ["real3"]),
    ("a type that is not there", {"first": "(in, dubble, z), "}, ["dubble"]),
    ("records that are none", {"first": "(use, point, z, \"read\"), "}, ["ha_seen_point"]),
    ("code that is not there", {"first": "(uses, quarter_of), "}, ["quarter_of"]),
    ("a pointer in a record", {"member": "address z;", "field": ", (address, z)"}, ["z", "pointers"]),
    ("too many parameters", {"first": MANY}, ["axpy", "twelve"]),
    ("writing what is read", {"body": "x[i] = a; y[i] = 1;"}, ["read-only|const"]),
    ("writing a value", {"body": "a = x[i]; y[i] = a;"}, ["a", "read-only|const"]),
    ("a name that is not there", {"body": "y[i] += a * z[i];"}, ["z"]),
    ("writing a view that is read", {"stencil": "HA_AT(u, j, i) = HA_AT(w, j, i);"}, ["read-only|const"]),
    ("too few indices", {"stencil": "HA_AT(w, j, i) = HA_AT(u, i);"},
     ["HA_AT: an index has one number for each dimension"]),
    ("leaving a loop that is none", {"body": "break;"}, ["break"]),
    ("a field that is not there", {"lane": "*line_y(p, at) += by;"}, ["line_y"]),
    ("an array of another type", {"call": "axpy(ha_host(), 5, 0.5, z, x)"},
     ["axpy|harray_double|harray_float"]),
    ("too few arguments", {"call": "axpy(ha_host(), 5, 0.5, x)"}, ["axpy|few|no matching"]),
    ("an array as lanes", {"call": "axpy(ha_host(), x, 0.5, x, x)"}, ["axpy|int64_t|long"]),
    ("one index for two", {"call": "smooth(ha_host(), 7, u, u)"}, ["smooth|ha_dim2"]),
    ("all lanes of two indices", {"call": "smooth(ha_host(), HA_ALL_LANES, u, u)"}, ["smooth|ha_dim2"]),
    ("lanes of records", {"call": "shift(ha_host(), 5, p, 0.5)"}, ["shift|points|matching|many"]),
]

if __name__ == "__main__":
    compile_errors.check(PROGRAM, GOOD, CASES)
