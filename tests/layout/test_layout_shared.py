#!/usr/bin/env python3
"""Views in the memory that a block of a CUDA kernel shares: does the compiler see through them?

For each layout nvcc makes PTX of a kernel that makes such a view by sky_in, stores a record in it and
loads others. All of that has to be of shared memory, each value by one instruction of its size, and the
view itself in registers, which needs no GPU to be seen. Skipped (77) without nvcc."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
LAYOUTS = ["HA_AOS", "HA_AOS_PACKED", "HA_SOA", "HA_SOA_FIELDS", "HA_SOA_SINGLE", "HA_SOA_SINGLE_ALIGNED",
           "HA_AOSOA(3)", "HA_AOSOA(16)", "HA_ANY"]
PROGRAM = """\
#include "layout.h"
typedef struct { struct { float x, y, z; } pos, vel; double mass[3]; unsigned id; } body;
#define HOT_FIELDS (float, pos, x), (float, pos, y), (float, pos, z), \\
                   (float, vel, x), (float, vel, y), (float, vel, z)
#define COLD_FIELDS (double, mass, (3)), (unsigned, id)
#define body_FIELDS HOT_FIELDS, COLD_FIELDS
HA_RECORD(body)
#define KERNEL(sky) \\
    extern "C" __global__ void in_##sky(sky v) { \\
        __shared__ char memory[HA_ROOM(sky, 64)]; \\
        const sky tile = sky##_in(memory, 64); \\
        const ha_cursor at = sky##_at(v, threadIdx.x); \\
        sky##_store(tile, sky##_at(tile, threadIdx.x), sky##_load(v, at)); \\
        __syncthreads(); \\
        sky##_store(v, at, sky##_load(tile, sky##_at(tile, 63 - threadIdx.x))); \\
    }
"""
PACKED = """\
typedef struct __attribute__((packed, aligned(8))) { signed char first; float x; } squeezed;
#define squeezed_FIELDS (int8_t, first), (float, x)
HA_RECORD(squeezed)
HA_VIEW(packed, squeezed, 1, HA_AOS)
extern "C" __global__ void in_packed(packed v, float *x) {
    x[0] = packed_x_get(v, packed_at(v, threadIdx.x));
    packed_x_set(v, packed_at(v, threadIdx.x), x[1]);
}
"""
FLOATS, DOUBLES, INTEGERS = 6, 3, 1
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def view_of(number, layout):
    return f"HA_VIEW(view_{number}, body, 1, {layout})\nKERNEL(view_{number})\n"


def wrong_with(text, layout):
    """What is wrong with the PTX of a kernel; nothing if it is as it should be."""
    if ".local" in text or "__local_depot" in text:
        return "the view is not in registers"
    if layout == "packed":
        bytes_moved = len(re.findall(r"\b(?:ld|st)\.global\.u8\b", text))
        return None if bytes_moved == 8 else "a float at once where it may be misaligned"
    for what in ("ld", "st"):
        found = re.findall(rf"\b{what}\.shared\.(?:v\d\.)?[a-z](\d+)\b", text)
        total = sum(BYTES[bits] for bits in found)
        if total != 4 * (FLOATS + INTEGERS) + 8 * DOUBLES:
            return f"{what} of {total} bytes in shared memory"
        # Where doubles may be misaligned, they are moved byte by byte.
        loose = layout in ("HA_AOS_PACKED", "HA_AOSOA(3)")
        most = FLOATS + INTEGERS + DOUBLES * (8 if loose else 1)
        if len(found) > most:
            return f"{what} in {len(found)} parts, not {most}"
        if re.search(rf"\b{what}\.(?:v\d\.)?[a-z]\d+\b", text):
            return f"{what} of a memory that the compiler does not know"
    return None


def main():
    if not NVCC:
        sys.exit(77)
    named = {f"view_{k}": layout for k, layout in enumerate(LAYOUTS)}
    named["split"] = "split"
    program = PROGRAM + "".join(view_of(k, layout) for k, layout in enumerate(LAYOUTS))
    named["packed"] = "packed"
    program += PACKED + "HA_VIEW_SPLIT(split, body, 1, HOT, HA_AOSOA(8), COLD, HA_SOA)\nKERNEL(split)\n"
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "shared.cu"), pathlib.Path(folder, "shared.ptx")
        source.write_text(program, encoding="utf-8")
        subprocess.run([NVCC, "-std=c++17", "-ptx", f"-I{ROOT}", "-Werror", "all-warnings", str(source),
                        "-o", str(target)], check=True)
        kernels = re.findall(r"\.entry in_(\w+)\((.*?)\n}", target.read_text(encoding="utf-8"), re.S)
    assert {name for name, _ in kernels} == set(named), [name for name, _ in kernels]
    failed = False
    for name, text in kernels:
        wrong = wrong_with(text, named[name])
        print(f"{named[name]}: {wrong or 'ok'}")
        failed |= wrong is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
