#!/usr/bin/env python3
"""Datasets against h5py: what it writes is loaded, and what is saved it reads, to the same array of the same type.
Skipped (exit status 77) without h5py. Prints TAP.

usage: test_h5py.py HDF5_PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError:
    print("1..0 # SKIP there is no h5py here")
    sys.exit(77)

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16",
         ">i2", ">i8", ">u4", ">f2", ">f4", ">f8", ">c8", ">c16"]
SHAPES = [(), (0,), (7,), (3, 4), (2, 0, 3), (2, 3, 4), (2, 1, 3, 2, 2), (2,) * 8]


def array_of(dtype, shape):
    count = int(numpy.prod(shape))
    numbers = (numpy.arange(count) * 37 % 101).reshape(shape)
    if numpy.dtype(dtype).kind == "c":
        return (numbers + 1j * (numbers % 7)).astype(dtype)
    return (numbers % 2 == 1 if dtype == "?" else numbers).astype(dtype)


def is_same(dataset, array):
    """Elements, extents and the type, in this machine's order of bytes."""
    found = dataset[()]
    return (dataset.dtype == array.dtype.newbyteorder("=") and dataset.shape == array.shape
            and numpy.array_equal(found, array))


def view_of(array):
    return array[::-2].T if array.ndim else array


def results(program, folder):
    ours, theirs = folder / "ours.h5", folder / "theirs.h5"
    arrays = {f"{dtype} {number}": array_of(dtype, shape) for dtype in TYPES
              for number, shape in enumerate(SHAPES)}
    with h5py.File(theirs, "w") as file:
        for name, array in arrays.items():
            chunked = {"chunks": True, "compression": "gzip"} if array.ndim and array.size else {}
            file.create_dataset(name, data=array, **chunked)
    done = subprocess.run([program, theirs, ours, *arrays], capture_output=True, text=True, check=False)
    yield f"the program ends well {done.stderr}", done.returncode == 0
    with h5py.File(ours, "r") as file:
        for name, array in arrays.items():
            yield f"{name}: {array.shape}", is_same(file[name], array)
            yield f"{name}: a view of it", is_same(file["view"][name], view_of(array))
        yield "bfloat16 is a number", list(file["bfloat16"][()].astype("f8")) == [1, -2.5, 384]


def main():
    with tempfile.TemporaryDirectory() as folder:
        count = failed = 0
        for name, good in results(sys.argv[1], pathlib.Path(folder)):
            count += 1
            failed += not good
            print("ok" if good else "not ok", count, "-", name)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
