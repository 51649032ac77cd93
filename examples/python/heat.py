#!/usr/bin/env python3
"""Heat on a plate: NumPy sets it up and looks at it, a solver in C (heat.c) computes, and both work on the same arrays.

usage: heat.py [--on CONTEXT] [--size N] [--steps N] [--picture FILE.png]

What moves between host and device is only what the other one has changed: NumPy warms one spot between two runs of the
solver, and only that is copied there. The numbers are printed at the end.
"""
import argparse
import ctypes
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np

import harray as ha


def load_solver():
    """Compiles heat.c against the library of the package, so that both share arrays."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heat"))
    library = ha.get_library()
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=gnu11", "-O2", "-shared", "-fPIC", "-pthread", f"-I{ha.get_include()}",
                    str(pathlib.Path(__file__).parent / "heat.c"), "-o", str(folder / "heat.so"), library,
                    f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
    solver = ctypes.CDLL(str(folder / "heat.so")).heat
    solver.restype = ctypes.c_char_p
    solver.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_int]
    return solver


def address(array):
    """Of the darray, for C: x.address is a capsule that keeps it."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = array.address
    return capsule, pointer(capsule, b"harray.darray")


def solve(solver, u, w, where, steps):
    """Runs the solver; without the GIL, as ctypes does."""
    (_keep_u, first), (_keep_w, second) = address(u), address(w)
    problem = solver(first, second, where.name.encode(), 0.2, steps // 2)
    if problem:
        raise RuntimeError(problem.decode())


def right(values, steps):
    """The same by NumPy alone, to compare with."""
    u = values.copy()
    for _ in range(steps):
        w = u.copy()
        w[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = w
    return u


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--on", default=None, help="a context, such as sim:0; default: the best one")
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--picture", help="a file for a picture, by matplotlib")
    options = parser.parse_args()
    where = ha.context(options.on) if options.on else ha.best()
    solver, n = load_solver(), options.size

    u, w = ha.zeros((n, n), name="u"), ha.zeros((n, n), name="w")
    with u.write() as v:
        np.asarray(v)[0, :] = 1 # the upper edge is warm
    w[0, :] = 1
    start = u.numpy()
    solve(solver, u, w, where, options.steps)

    spot = np.s_[n // 2:n // 2 + n // 8, n // 2:n // 2 + n // 8]
    with u[spot].write() as v:
        np.asarray(v)[...] = 0.5
    between = right(start, options.steps // 2 * 2)
    between[spot] = 0.5
    before = u.statistics["bytes"]
    solve(solver, u, w, where, options.steps)

    print(f"{where}: {(u.statistics['bytes'] - before) // 8} elements moved for {(n // 8) ** 2} that NumPy has changed")
    difference = float(abs(np.asarray(u) - right(between, options.steps // 2 * 2)).max())
    print(f"heat {np.asarray(u).sum():.6f}, from NumPy's by {difference:.1e} at most")
    if options.picture:
        import matplotlib # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt # pylint: disable=import-outside-toplevel
        plt.imshow(np.asarray(u), cmap="inferno")
        plt.colorbar()
        plt.savefig(options.picture)
    return difference > 1e-12


if __name__ == "__main__":
    sys.exit(main())
