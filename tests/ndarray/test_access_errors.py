#!/usr/bin/env python3
"""Programs with one access of a type that does not fit what it is to open, or one index of another rank:
the first error says so."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "harray.h"
typedef double real3[3];
typedef struct {{ real3 at; }} point;
typedef void (*call)(int);
HARRAY(point);
HARRAY(call);
HARRAY_NAMED(of_type, {type});
int f(harray_double list, array_double_2 matrix, darray x, unsigned mode);
int f(harray_double list, array_double_2 matrix, darray x, unsigned mode) {{
    const unsigned read = HA_READ;
    {access} v;
    ha_write_double_2 w;
    ha_read_darray of_any;
    ha_access plain;
    (void)list, (void)matrix, (void)x;
    int failed = ha_open_view(&v, {view}, HA_NULL_, {how}) != HA_OK;
    failed += ha_open_view(&w, matrix, HA_NULL_, mode) != HA_OK;
    failed += ha_open_view(&w, matrix, HA_NULL_, HA_OVERWRITE | HA_TRY) != HA_OK;
    failed += ha_open_view(&of_any, x, HA_NULL_, read) != HA_OK;
    failed += ha_open_view(&plain, x, HA_NULL_, HA_WRITE) != HA_OK;
    failed += ha_span_of(&{spanned}, {seen}) != HA_OK;
    {moved} m;
    ha_write_double_2 m_2;
    failed += ha_move(&m, &w) != HA_OK;
    failed += ha_move(&plain, &m) != HA_OK;
    failed += ha_move(&m_2, &plain) != HA_OK;
    {opening} {{
        const double element = HA_AT(u.span, {index});
        failed += element > 1;
    }}
    {overwriting} v1.data[0] = 1;
    {part} failed += v2.data[0] > 1;
    const harray_double_const kept = harray_double_reading(list);
    const array_double_2_const table = array_double_2_reading(matrix);
    failed += ha_open_view(&plain, {only}, HA_NULL_, {kept_how}) != HA_OK;
    failed += ha_open_view(&plain, table, HA_NULL_, mode) != HA_OK;
    HA_READING(k0, kept, HA_NULL_) failed += k0.data[0] > 1;
    HA_READING_RANGE(k3, kept, HA_NULL_, 0, 1) failed += k3.data[0] > 1;
    HA_READING(k4, table, HA_NULL_) failed += HA_AT(k4.span, 0, 0) > 1;
    {kept} failed += k1.data != HA_NULL_;
    {table} failed += k2.data != HA_NULL_;
    return failed;
}}
"""

GOOD = {"access": "ha_read_double_2", "view": "matrix", "how": "HA_READ", "spanned": "w",
        "moved": "ha_write_double_2",
        "seen": "matrix", "opening": "HA_READING(u, matrix, HA_NULL_)", "index": "0, 1",
        "overwriting": "HA_OVERWRITING(v1, list, HA_NULL_, 5)",
        "only": "kept", "kept_how": "HA_READ", "kept": "HA_READING(k1, kept, HA_NULL_)",
        "table": "HA_READING_ANYWHERE(k2, table)",
        "part": "HA_READING_RANGE(v2, list, HA_NULL_, 0, 1)", "type": "const char *"}
OWN = ["of no type of the array"]
SPAN = ["of no type of the view"]
READS = ["is opened for writing"]
MOVED = ["the accesses are of different types"]
RANK = ["one number for each dimension"]
KEPT = ["for reading only"]
LIST = ["of a harray_T only"]
CASES = [
    ("a list's access for a matrix", {"access": "ha_read_double"}, OWN),
    ("another rank", {"access": "ha_read_double_3"}, OWN),
    ("another type", {"access": "ha_read_float_2"}, OWN),
    ("a darray's for a matrix", {"access": "ha_read_darray"}, OWN),
    ("a matrix's for a darray", {"view": "x"}, OWN),
    ("a matrix's for a list", {"view": "list"}, OWN),
    ("a list's for a darray", {"access": "ha_write_double", "view": "x"}, OWN),
    ("one to read for writing", {"how": "HA_WRITE"}, READS),
    ("one to read for overwriting", {"how": "HA_OVERWRITE"}, READS),
    ("one to read for trying to write", {"how": "HA_WRITE | HA_TRY"}, READS),
    ("the span of another rank", {"spanned": "of_any"}, SPAN),
    ("the span of another array", {"seen": "x"}, SPAN),
    ("the span of what has none", {"spanned": "plain"}, SPAN),
    ("a write moved into a read", {"moved": "ha_read_double_2"}, MOVED),
    ("an access moved into one of another rank", {"moved": "ha_write_double_3"}, MOVED),
    ("an access to a view moved into one to elements", {"moved": "ha_write_double"}, MOVED),
    ("fewer numbers than dimensions", {"index": "1"}, RANK),
    ("more numbers than dimensions", {"index": "1, 2, 3"}, RANK),
    ("a matrix to be overwritten with a size",
     {"overwriting": "HA_OVERWRITING(v1, matrix, HA_NULL_, 5)"}, LIST),
    ("a darray to be tried with a size", {"overwriting": "HA_TRY_OVERWRITING(v1, x, HA_NULL_, 5)"}, LIST),
    ("a const list to be opened for writing", {"kept_how": "HA_WRITE"}, KEPT),
    ("a const matrix to be opened for overwriting", {"only": "table", "kept_how": "HA_OVERWRITE"}, KEPT),
    ("a const list to be written", {"kept": "HA_WRITING(k1, kept, HA_NULL_)"}, KEPT),
    ("a const list to be tried", {"kept": "HA_TRY_WRITING(k1, kept, HA_NULL_)"}, KEPT),
    ("a const list to be overwritten", {"kept": "HA_OVERWRITING(k1, kept, HA_NULL_, 5)"}, KEPT),
    ("a const list's range", {"kept": "HA_WRITING_RANGE(k1, kept, HA_NULL_, 0, 1)"}, KEPT),
    ("a const list's overwritten range", {"kept": "HA_OVERWRITING_RANGE(k1, kept, HA_NULL_, 0, 1)"}, KEPT),
    ("a const matrix to be written", {"table": "HA_WRITING(k2, table, HA_NULL_)"}, KEPT),
    ("a const matrix to be overwritten", {"table": "HA_OVERWRITING_ALL(k2, table, HA_NULL_)"}, KEPT),
    ("elements that are arrays", {"type": "real3"}, ["HARRAY: real3 is an array"]),
    ("a matrix's range", {"part": "HA_READING_RANGE(v2, matrix, HA_NULL_, 0, 1)"}, LIST),
]

if __name__ == "__main__":
    compile_errors.check(PROGRAM, GOOD, CASES)
