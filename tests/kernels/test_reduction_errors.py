#!/usr/bin/env python3
"""Programs with one mistake in a reduction: the first error says what is wrong."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "harray_kernels.h"
HA_REDUCE(total, ((value, {value}, k), (in, {type}, x)), {indices}, {type}, {operation}, {expression});
ha_status f(harray_{type} x, harray_{type} results, {result} *r);
ha_status f(harray_{type} x, harray_{type} results, {result} *r) {{
    (void)results;
    return total(ha_host(), {lanes}, {given}, {to}){more};
}}
"""

GOOD = {"value": "float", "type": "float", "indices": "i", "operation": "HA_SUM", "expression": "k * x[i]",
        "result": "float", "lanes": "HA_ALL_LANES", "given": "2, x", "to": "r",
        "more": " ? HA_ERR_STATE : total_into(ha_host(), 5, 2, x, results, 0)"}
BITS = {"type": "uint32_t", "result": "uint32_t", "value": "uint32_t", "expression": "k + x[i]"}
CASES = [
    *[(operation, {"operation": operation}, None)
      for operation in ("HA_PRODUCT", "HA_MIN", "HA_MAX", "HA_SUM_EXACT")],
    *[(operation, {**BITS, "operation": operation}, None)
      for operation in ("HA_AND", "HA_OR", "HA_XOR", "HA_SUM_EXACT", "HA_MAX")],
    ("values and places", {"operation": "HA_MAX_AT", "result": "total_result",
                           "more": " || r->at < 0 || r->value > 5 ? HA_ERR_STATE : HA_OK"}, None),
    ("of several words", {"value": "double", "expression": "(float)HA_LESS(k, x[i])",
                          "given": "2.0, x"}, None),
    ("lanes of two indices", {"indices": "(j, i)", "expression": "x[j + k * i]", "value": "int",
                              "lanes": "HA_DIM(2, 3)", "more": ""}, None),
    ("another operation", {"operation": "HA_MEAN"}, ["HA_MEAN"]),
    ("bits of reals", {"operation": "HA_XOR"}, ["^|operand"]),
    ("small numbers", {"type": "int16_t", "result": "int16_t", "expression": "x[i]", "value": "int16_t"},
     ["total is of no int32_t"]),
    ("another type of result", {"result": "double"}, ["total|float|double"]),
    ("a result by value", {"to": "*r"}, ["total|float"]),
    ("one lane index too few", {"indices": "(j, i)", "more": ""}, ["total|ha_dim2"]),
    ("an argument too few", {"given": "x"}, ["total|arguments|cannot convert"]),
    ("writing what is read", {"expression": "x[i]++"}, ["read-only|const"]),
]


if __name__ == "__main__":
    compile_errors.check(PROGRAM, GOOD, CASES)
