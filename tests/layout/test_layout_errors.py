#!/usr/bin/env python3
"""Programs with one mistake in a list of fields or in the use of a view: the first error says which
field it is, by its whole path."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compile_errors  # pylint: disable=wrong-import-position

PROGRAM = """\
#include "layout.h"
typedef double real3[3];
typedef double *address;
typedef long double wide;
typedef enum colour {{ BLUE, PINK }} colour;
typedef struct {{ double x; }} box;
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

GOOD = {"extra": "", "member": "", "layout": "HA_SOA", "use": "*sky_pos_x(v, at)"}
GOOD_CASES = [
    ("an enum", {"member": "colour paint;", "extra": ", (colour, paint)"}, None),
]
CASES = [
    ("a member that is not there", {"extra": ", (double, pos, w)"}, ["body_pos_w"]),
    ("a struct that is not there", {"extra": ", (double, poz, x)"}, ["body_poz_x"]),
    ("one in an array", {"extra": ", (double, link, (4), f, (3, 3))"}, ["body_link_f"]),
    ("another type", {"extra": ", (float, pos, y)"}, ["pos", "y", "is not of type", "float"]),
    ("a struct as a number", {"extra": ", (double, pos)"}, ["pos", "is not of type", "double"]),
    ("an array as a number", {"extra": ", (double, link, (4), e)"}, ["link", "e", "is not of type"]),
    ("a pointer", {"member": "address p;", "extra": ", (address, p)"},
     ["p: address is not a scalar", "pointers are no fields"]),
    ("an array that is a type", {"member": "real3 r;", "extra": ", (real3, r)"},
     ["r: real3 is not a scalar", "as (real_t, r, (3))"]),
    ("arrays that are a type", {"member": "real3 r[2];", "extra": ", (real3, r, (2))"},
     ["r[2]: real3 is not a scalar"]),
    ("a struct that is a type", {"member": "box b;", "extra": ", (box, b)"},
     ["b: box is not a scalar", "of a struct its members"]),
    ("a number that no dtype is", {"member": "long double far;", "extra": ", (wide, far)"},
     ["far: wide is not a scalar"]),
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
    ("layouts that are no cases", {"layout": "HA_ANY_OF(HA_AOS, HA_ONE)"},
     ["HA_ANY_OF: one of HA_AOS, HA_AOS_PACKED"]),
    ("counted cases", {"layout": "HA_ANY_OF(HA_AOS, HA_COUNTED(HA_SOA))"},
     ["HA_ANY_OF: one of HA_AOS"]),
    ("no granules", {"layout": "HA_HEATMAP(HA_SOA, 0)"}, ["HA_HEATMAP: 1 to 1048576 bytes"]),
    ("large granules", {"layout": "HA_HEATMAP(HA_SOA, 1048577)"}, ["HA_HEATMAP: 1 to 1048576 bytes"]),
    ("storing by a const view", {"use": "(*sky_const_pos_x(sky_reading(v), at) = 1)"},
     ["read-only|const"]),
]


if __name__ == "__main__":
    compile_errors.check(PROGRAM, GOOD, [*GOOD_CASES, *CASES])
