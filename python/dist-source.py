#!/usr/bin/env python3
"""Copies what the package is built from into an sdist, below source/: run by Meson."""
import os
import pathlib
import shutil

root = pathlib.Path(__file__).resolve().parent.parent
if not (root / "harray_impl.h").exists(): # in an sdist already
    root = pathlib.Path(__file__).resolve().parent / "source"
target = pathlib.Path(os.environ["MESON_DIST_ROOT"])
for name in ("harray.h", "harray_impl.h", "layout.h", "harray_records.h", "harray_kernels.h", "harray_ops.h", "harray_mpi.h",
             "harray_hdf5.h"):
    (target / "source").mkdir(exist_ok=True)
    shutil.copy(root / name, target / "source")
for name in ("harray", "layout", "backends"):
    shutil.copytree(root / name, target / "source" / name, dirs_exist_ok=True)
(target / "LICENSE").unlink(missing_ok=True) # a link out of the sdist
shutil.copy(root / "LICENSE" if (root / "LICENSE").exists() else root.parent / "LICENSE", target)
