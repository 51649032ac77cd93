#!/usr/bin/env python3
"""Headers of .npy files, and arrays in them, against NumPy: what it writes is read, and what is
written it reads, to the same array; integers are printed as it prints them. Skipped (exit status 77) without NumPy.

usage: test_npy.py NPY_PROGRAM
"""
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    from numpy.lib import format as npy
except ImportError:
    print("1..0 # SKIP there is no NumPy here")
    sys.exit(77)

NAMES = {"f2": "half", "f4": "float", "f8": "double", "b1": "bool", "c8": "c64", "c16": "c128"}
NAMES |= {f"i{n}": f"int{8 * n}_t" for n in (1, 2, 4, 8)}
NAMES |= {f"u{n}": f"uint{8 * n}_t" for n in (1, 2, 4, 8)}
SHAPES = [(), (0,), (1,), (7,), (3, 4), (1, 5), (5, 1), (2, 0, 3), (2, 3, 4), (2,) * 8]
REFUSED = [
    numpy.zeros(3, dtype=[("x", "<f8"), ("y", "<i4")]),
    numpy.array(["text"]),
    numpy.array([b"bytes"]),
    numpy.array(["2000-01-01"], dtype="M8[D]"),
    numpy.zeros((1,) * 9),
]


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def run(program, data):
    return subprocess.run([program], input=data, capture_output=True, check=False)


def file_of(array, version):
    file = io.BytesIO()
    npy.write_array(file, array, version=version)
    return file.getvalue()


def check(program, array, version):
    """One array there and back."""
    what = f"{array.dtype.str} {array.shape} version {version}"
    done = run(program, file_of(array, version))
    require(done.returncode == 0, f"{what}: {done.stderr}")
    file = io.BytesIO(done.stdout)
    back = npy.read_array(file)
    require(back.dtype == array.dtype and back.shape == array.shape, f"{what}: {back.dtype}")
    require(back.tobytes() == array.tobytes(), f"{what}: other elements")
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    require(back.flags.f_contiguous or not fortran, f"{what}: order")
    require((len(done.stdout) - array.nbytes) % 64 == 0, f"{what}: alignment")
    swapped = array.dtype.byteorder == (">" if sys.byteorder == "little" else "<")
    extents = ", ".join(str(n) for n in array.shape)
    says = done.stderr.decode().split(" ", 4)
    says[3] = ""
    expected = [NAMES[array.dtype.str[1:]], str(+swapped), str(+fortran), "", f"({extents})\n"]
    require(says == expected, f"{what}: {says}")


def check_copies(program, arrays):
    """Arrays loaded and saved, and views of them. Those with the other order of bytes change it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, array in enumerate(arrays):
            paths += [f"{folder}/{number}", f"{folder}/{number}.npy"]
            with open(paths[-2], "wb") as file:
                npy.write_array(file, array, version=(1 + number % 3, 0))
        done = subprocess.run([program, *paths], capture_output=True, check=False)
        require(done.returncode == 0, done.stderr)
        for number, array in enumerate(arrays):
            what = f"{array.dtype.str} {array.shape}"
            back = numpy.load(paths[2 * number + 1])
            require(back.dtype == array.dtype.newbyteorder("="), f"{what}: {back.dtype}")
            same = array.astype(back.dtype).tobytes(order="A")
            require(back.shape == array.shape and back.tobytes(order="A") == same, what)
            view = numpy.load(paths[2 * number + 1] + ".view.npy")
            expected = (array[::-2] if array.ndim else array).T.astype(back.dtype)
            require(view.shape == expected.shape, f"{what}: view of {view.shape}")
            require(view.tobytes() == expected.tobytes(), f"{what}: view")
        left = [path.name for path in pathlib.Path(folder).iterdir() if path.name.startswith(".")]
        require(not left, left)


def check_printed(program, array):
    """Beyond 10 rows and columns it is summarised; then the extents stand above it."""
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(f"{folder}/x.npy", array)
        done = subprocess.run([program, f"{folder}/x.npy", f"{folder}/y.npy"], capture_output=True,
                              check=True)
    text = done.stdout.decode()
    if max(array.shape, default=0) > 10 or not array.size:
        head, text = text.split("\n", 1)
        require(head == f"int32_t {array.ndim} {list(array.shape)}", head)
    with numpy.printoptions(threshold=0, edgeitems=5,
                            linewidth=sys.maxsize):
        require(text == f"{array}\n", f"{text} is not\n{array}")


def main(program):
    count = 0
    arrays = []
    for name, order, shape in itertools.product(NAMES, "<>", SHAPES):
        random = numpy.random.default_rng(count)
        size = int(numpy.prod(shape, dtype=int)) * numpy.dtype(name).itemsize
        values = random.integers(0, 2, size, dtype=numpy.uint8)
        array = numpy.frombuffer(values.tobytes(), dtype=order + name).reshape(shape)
        check(program, array, (1 + count % 3, 0))
        arrays.append(array)
        count += 1
        if len(shape) > 1 and order == "<":
            arrays.append(numpy.asfortranarray(array))
            check(program, arrays[-1], (1, 0))
    check_copies(program, arrays)
    for shape in [*SHAPES, (100,), (12, 3), (100, 100), (30, 2, 40), (11, 11, 11)]:
        count = int(numpy.prod(shape, dtype=int))
        check_printed(program, (count // 2 - numpy.arange(count, dtype="i4")).reshape(shape))
    for array in REFUSED:
        done = run(program, file_of(array, (1, 0)))
        require(done.returncode == 2 and b"UNSUPPORTED" in done.stderr, f"{array.dtype}: {done}")


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
