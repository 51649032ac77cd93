#!/usr/bin/env python3
"""tools/layers tells each mistake that it is for, in a small tree with one mistake at a time.
Prints TAP."""
import pathlib
import subprocess
import sys
import tempfile

LAYERS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "layers"

# {file: files that it includes}
TREE = {
    "harray.h": ["harray/access.h", "harray_impl.h"],
    "harray_impl.h": ["harray/impl/base/all.h", "harray/impl/elements/all.h", "harray/impl/device/all.h"],
    "harray_records.h": ["harray.h", "layout.h", "harray/impl/records/all.h"],
    "harray_kernels.h": ["harray_records.h", "harray/impl/kernels/all.h"],
    "harray_ops.h": ["harray_kernels.h", "harray/impl/ops/all.h"],
    "harray_mpi.h": ["harray_records.h", "harray/impl/mpi/all.h"],
    "harray_hdf5.h": ["harray.h", "harray/impl/hdf5/all.h"],
    "layout.h": ["layout/copy.h", "layout/impl/all.h"],
    "harray/access.h": ["../layout/copy.h", "detail/part.h"],
    "harray/detail/part.h": ["../access.h"],
    "harray/impl/base/all.h": ["error.h", "text.h"],
    "harray/impl/base/error.h": ["../../access.h", "../../../backends/backend.h"],
    "harray/impl/base/text.h": ["error.h"],
    "harray/impl/elements/all.h": ["dtype.h"],
    "harray/impl/elements/dtype.h": ["../base/all.h", "../../../layout/impl/convert/all.h"],
    "harray/impl/device/all.h": ["queue.h"],
    "harray/impl/device/queue.h": ["../base/all.h", "../../../backends/list.h"],
    "harray/impl/records/all.h": ["state.h"],
    "harray/impl/records/state.h": ["../device/all.h", "../../../layout/copy.h"],
    "harray/impl/kernels/all.h": ["launch.h"],
    "harray/impl/kernels/launch.h": ["../records/all.h", "../../access.h"],
    "harray/impl/ops/all.h": ["rows.h"],
    "harray/impl/ops/rows.h": ["../kernels/all.h", "../../access.h"],
    "harray/impl/mpi/all.h": ["message.h"],
    "harray/impl/mpi/message.h": ["../records/all.h", "../../access.h"],
    "harray/impl/hdf5/all.h": ["block.h"],
    "harray/impl/hdf5/block.h": ["../elements/all.h", "../../access.h"],
    "layout/copy.h": [],
    "layout/impl/all.h": ["base/all.h", "convert/all.h"],
    "layout/impl/base/all.h": ["reader.h"],
    "layout/impl/base/reader.h": ["../../copy.h"],
    "layout/impl/convert/all.h": ["scalars.h"],
    "layout/impl/convert/scalars.h": ["../base/all.h"],
    "backends/backend.h": ["../harray/access.h"],
    "backends/list.h": ["sim/sim.h"],
    "backends/library.c": ["../harray_ops.h"],
    "backends/common/arena.h": ["../backend.h"],
    "backends/sim/sim.h": ["../common/arena.h", "../../harray/access.h"],
    "backends/other/other.h": ["../backend.h"],
}
BASE, ERROR, QUEUE = "harray/impl/base/all.h", "harray/impl/base/error.h", "harray/impl/device/queue.h"

# What is told, the file with the mistake, and the include or the text that is the mistake.
MISTAKES = [
    ("device is above base", ERROR, "../device/all.h"),
    ("records is above device", QUEUE, "../records/all.h"),
    ("kernels is above records", "harray/impl/records/state.h", "../kernels/all.h"),
    ("convert is above base", "layout/impl/base/reader.h", "../convert/all.h"),
    ("another layer is included by its all.h", QUEUE, "../base/text.h"),
    ("there is no such file", QUEUE, "gone.h"),
    ("it is no layer's", QUEUE, "../../../layout.h"),
    ("it belongs to layouts alone", QUEUE, "../../../layout/impl/convert/all.h"),
    ("it belongs to layouts alone", "harray/impl/elements/dtype.h", "../../../layout/impl/base/all.h"),
    ("the engine knows backends by backend.h and common/", ERROR, "../../../backends/list.h"),
    ("the engine knows backends by backend.h and common/", QUEUE, "../../../backends/sim/sim.h"),
    ("layouts stand alone", "layout/copy.h", "../harray/access.h"),
    ("layouts stand alone", "layout/impl/base/reader.h", "../../../harray/access.h"),
    ("it is no public header", "harray/access.h", "impl/base/all.h"),
    ("it is no public header", "layout/copy.h", "impl/base/all.h"),
    ("a backend knows its own folder", "backends/sim/sim.h", "../other/other.h"),
    ("a backend knows its own folder", "backends/common/arena.h", "../../harray/impl/base/all.h"),
    ("harray/impl/base/error.h -> harray/impl/base/text.h -> harray/impl/base/error.h", ERROR, "text.h"),
    (f"{BASE} lacks harray/impl/base/new.h", "harray/impl/base/new.h", "error.h"),
    ("# new", "harray/impl/new/all.h", "../base/all.h"),
    (f"{ERROR} promises ha_f of harray/impl/device/queue.h", ERROR, "static int ha_f(int x);"),
    (f"{ERROR} promises ha_g of no file", ERROR, "static int ha_g(int x);"),
    (f"{ERROR}: static int ha_count", ERROR, "static int ha_count;"),
    (f"{ERROR}: static const char *ha_name", ERROR, "static const char *ha_name = 0;"),
    ("static struct", "backends/sim/sim.h", "static struct { int n; } ha_all;"),
    ("static _Atomic ha_best", "layout/impl/convert/scalars.h", "static _Atomic(int *) ha_best;"),
]
FUNCTIONS = {QUEUE: "static inline int ha_f(int x) { return x; }\n"}
ALONE = ("unknown type name", QUEUE, "static inline ha_gone ha_h(void) { return 0; }")


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def file_text(name, others, more):
    guard = "".join(c if c.isalnum() else "_" for c in name).upper()
    body = "".join(f'#include "{other}"\n' for other in others) + FUNCTIONS.get(name, "")
    return f"#ifndef {guard}\n#define {guard}\n{body}{more}#endif\n"


def told(mistake, *options):
    """(exit status, output) of tools/layers for the tree with a mistake, or with none: None."""
    _, place, text = mistake or (None, None, "")
    more = "" if not text else f"{text}\n" if text.endswith((";", "}")) else f'#include "{text}"\n'
    with tempfile.TemporaryDirectory(prefix="layers-") as folder:
        root = pathlib.Path(folder)
        for name, others in {**TREE, **({place: TREE.get(place, [])} if place else {})}.items():
            write(root, name, file_text(name, others, more if name == place else ""))
        done = subprocess.run([LAYERS, *options, root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    results = [("a tree without mistakes", *told(None, "--alone"), 0, "")]
    for mistake in MISTAKES:
        results.append((f"{mistake[0]} ({mistake[2]})", *told(mistake), 1, mistake[0]))
    results.append((f"{ALONE[0]}, when compiled alone", *told(ALONE, "--alone"), 1, ALONE[0]))
    results.append(("not compiled, it is not told", *told(ALONE), 0, ""))
    failed = 0
    for number, (name, status, said, expected, what) in enumerate(results, 1):
        good = status == expected and what in said and "Traceback" not in said
        failed += not good
        print("ok" if good else "not ok", number, "-", name)
        if not good:
            print("".join(f"# {line}\n" for line in said.splitlines() if not line.startswith("ok")))
    print(f"1..{len(results)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
