#!/usr/bin/env python3
"""Checks examples/cg: test_cg.py CG_PLAIN CG

Both programs solve the same system; the solutions are checked here against the matrix as this script
reads it, and that of cg has the same bits on every device. It has not those of the plain program, which
adds up from the first product to the last: inner products are joined in an order of their own
(harray/reduce.h). The matrix is what its generator writes, and the
generator's element matrix is what exact integration gives.
"""
import fractions
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MATRIX = os.path.join(ROOT, "examples", "data", "wathen.mtx")
GENERATOR = os.path.join(ROOT, "examples", "cg", "wathen.py")
sys.path.insert(0, os.path.dirname(GENERATOR))
sys.dont_write_bytecode = True
import wathen  # noqa: E402 pylint: disable=wrong-import-position
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position

# Where the arithmetic is another (fused multiply-add), the residual comes down a little elsewhere.
ITERATIONS = range(168, 173)
HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"


class Test(Checks):
    def __init__(self, plain, ours, folder):
        super().__init__(ours, folder)
        self.plain, self.ours = os.path.abspath(plain), self.program

    def solution(self, name, program, *arguments, **environment):
        """What a run prints, and the bytes of the solution that it writes."""
        path = self.path("solution.mtx")
        done = self.run(*arguments, "--solution", path, MATRIX, program=program, **environment)
        self.check(name, done.returncode == 0 and done.stderr == "", done)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.remove(path)
        return done.stdout, text

    def bad_both(self, name, status, message, *arguments):
        """Both programs fail in this way."""
        for program in (self.plain, self.ours):
            self.bad(name, status, message, *arguments, program=program)


# ---- the solution ---------------------------------------------------------------------------


def read_matrix():
    with open(MATRIX, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("%")]
    n, entries = int(lines[0][0]), [(int(i) - 1, int(j) - 1, float(v)) for i, j, v in lines[1:]]
    return n, entries + [(j, i, v) for i, j, v in entries if i != j]


def product(n, entries, x):
    y = [0.0] * n
    for i, j, value in entries:
        y[i] += value * x[j]
    return y


def solved(t, name, program, n, entries):
    """What it prints, and the text of the solution."""
    printed, text = t.solution(name, program)
    x = [float(line) for line in text.splitlines()[2:]]
    t.check(f"{name}: the head of the solution", text.startswith(
        f"%%MatrixMarket matrix array real general\n{n} 1\n") and len(x) == n, text[:100])
    wanted = product(n, entries, [i % 10 - 4.5 for i in range(n)])
    error = max(abs(a - b) for a, b in zip(product(n, entries, x), wanted))
    t.check(f"{name}: A x = b", error <= 1e-8 * max(map(abs, wanted)), error)
    t.check(f"{name}: x is the known solution",
            max(abs(v - (i % 10 - 4.5)) for i, v in enumerate(x)) < 1e-6)
    found = re.search(r"(\d+) iterations, relative residual (\S+), largest error (\S+)", printed)
    t.check(f"{name}: iterations", found and int(found[1]) in ITERATIONS, printed)
    t.check(f"{name}: residual", found and float(found[2]) <= 1.1e-10 and float(found[3]) < 1e-6, printed)
    return printed, text


def test_solution(t):
    n, entries = read_matrix()
    solved(t, "the plain program", t.plain, n, entries)
    printed, text = solved(t, "the host", t.ours, n, entries)
    moved = "moved to host: 0 bytes in 0 copies; back: 0 bytes in 0 copies\n"
    t.check("nothing moves on the host", printed.endswith(moved), printed)
    return n, len(entries), printed.replace(moved, ""), text


def test_devices(t, n, entries, printed, text):
    """Same bits, same iterations; and what was moved does not depend on the iterations."""
    there = 4 * (n + 1) + 4 * entries + 8 * entries + 8 * n + 8 * n  # the matrix, b, x
    slow = {"HARRAY_SIM": "delay=20us,seed=3"}
    opencl = [("opencl:0", ["--device", "opencl"], {"HARRAY_KERNELS": "strict"})]
    if t.lacks(t.run("--device", "opencl", MATRIX), "opencl"):
        opencl = []
        t.skip("on opencl:0", "there is none")
    for name, arguments, environment in [
            ("sim:0", ["--device", "sim"], {}),
            ("sim:1", ["--device", "sim:1"], {}), ("sim:0", ["--device", "sim:0"], slow),
            ("sim:0", ["--device", "best"], {"HARRAY_DEVICE": "sim"}), *opencl]:
        ours, same = t.solution(f"on {name}", t.ours, *arguments, **environment)
        t.check(f"the same bits on {name}", same == text)
        t.check(f"the same report on {name}", ours.startswith(printed), ours)
        moved = f"moved to {name}: {there} bytes in 5 copies; back: {8 * n} bytes in 1 copies"
        t.check(f"moved on {name}", moved in ours, moved, ours)
    ours, same = t.solution("zero-copy", t.ours, "--device", "sim", HARRAY_SIM="unified=1")
    t.check("the same bits without copies", same == text)
    t.check("no copies", "moved to sim:0: 0 bytes in 0 copies; back: 0 bytes" in ours, ours)


def test_options(t):
    for program in (t.plain, t.ours):
        done = t.run("--time", MATRIX, program=program)
        t.check("--time", re.search(r"^\S+ microseconds each$", done.stdout, re.MULTILINE), done)
    done = t.run("--report", "--device", "sim", MATRIX)
    t.check("--report", done.returncode == 0 and "cg.c:" in done.stdout, done)
    t.bad_both("no file", 2, "usage: cg")
    t.bad_both("unknown option", 2, "usage: cg", "--nosuch", MATRIX)
    t.bad_both("no value", 2, "usage: cg", "--solution")
    t.bad("no device", 1, "nosuch", "--device", "nosuch", MATRIX)
    t.bad("full device", 1, "sim:0", "--device", "sim", MATRIX, HARRAY_SIM="capacity=100K")
    t.bad_both("no room for the solution", 1, "No such file", "--solution", t.path("no/where"), MATRIX)


# ---- the files ------------------------------------------------------------------------------


def test_kinds_of_files(t):
    """The same small matrix in several ways, and what it is called on."""
    three = "{}3 3 {}\n" + "1 1 4\n2 2 4\n3 3 4\n2 1 -1\n3 2 -1.0e0\n"
    general = HEAD.replace("symmetric", "general")
    for name, content in [
            ("symmetric", three.format(HEAD, 5)),
            ("general", three.format(general, 7) + "1 2 -1\n2 3 -1\n"),
            ("integer", three.format(HEAD.replace("real", "INTEGER"), 5).replace(".0e0", "")),
            ("comments and spaces", three.format(HEAD + "% A\n%\n\n  ", 5).replace(
                "\n2 2 4\n", "\r\n\n% no more\n  2\t2 +4.  \n"))]:
        file = t.make("small.mtx", content)
        for program in (t.plain, t.ours):
            done = t.run(file, program=program)
            t.check(name, done.returncode == 0 and "3 rows, 7 entries\n3 iterations" in done.stdout,
                    done)
    t.bad_both("not symmetric", 1, "no convergence",
          t.make("rotation.mtx", general + "2 2 2\n1 2 1\n2 1 -1\n"))
    t.bad_both("nothing", 1, "no convergence", t.make("nothing.mtx", HEAD + "2 2 0\n"))


def test_bad_files(t):
    good = HEAD + "% a comment\n2 2 2\n1 1 1\n2 2 1\n"
    for content, message in [
            ("", ": the file is empty"),
            ("a b c\n", "line 1: no Matrix Market file"),
            (HEAD.replace("coordinate", "array"), "line 1: 'matrix coordinate' is wanted"),
            (HEAD.replace("real", "complex"), "line 1: 'real' or 'integer' values are wanted"),
            (HEAD.replace("symmetric", "skew-symmetric"), "not 'skew-symmetric'"),
            (HEAD, "line 1: the file ends before the line of sizes"),
            (HEAD + "2 2\n", "line 2: three whole numbers are wanted"),
            (HEAD + "2 2 2 2\n", "line 2: three whole numbers are wanted"),
            (HEAD + "2 2 2.5\n", "line 2: three whole numbers are wanted"),
            (HEAD + "2 3 1\n", "line 2: the matrix is not square: 2 x 3"),
            (HEAD + "0 0 0\n", "line 2: there cannot be 0 rows"),
            (HEAD + "3000000000 3000000000 1\n", "line 2: there cannot be 3000000000 rows"),
            (HEAD + "99999999999999999999 1 1\n", "line 2: three whole numbers"),
            (HEAD + "2 2 -1\n", "line 2: there cannot be -1 entries"),
            (good.replace("2 2 1\n", ""), "line 4: the file ends after 1 of 2 entries"),
            (good + "2 1 1\n", "line 6: more than the 2 entries of the head"),
            (good.replace("1 1 1", "1 x 1"), "line 4: an entry is wanted"),
            (good.replace("1 1 1", "1 1"), "line 4: one finite number is wanted"),
            (good.replace("1 1 1", "1 1 1 1"), "line 4: one finite number is wanted"),
            (good.replace("1 1 1", "1 1 nan"), "line 4: one finite number is wanted"),
            (good.replace("1 1 1", "1 1 1e999"), "line 4: one finite number is wanted"),
            (good.replace("1 1 1", "3 1 1"), "line 4: entry (3, 1) is outside of the matrix"),
            (good.replace("1 1 1", "0 1 1"), "line 4: entry (0, 1) is outside"),
            (good.replace("1 1 1", "1 2 1"), "line 4: entry (1, 2) is above the diagonal"),
            (good.replace("1 1 1", "2 2 1"), "line 5: the same entry as in line 4")]:
        t.bad_both(f"bad file: {message}", 1, message, t.make("bad.mtx", content))
    t.bad_both("a directory", 1, "Is a directory", t.folder)
    t.bad_both("no such file", 1, "No such file", t.path("nosuch.mtx"))


# ---- the generator --------------------------------------------------------------------------


def element():
    """45 times the integrals of products of the eight shape functions over [-1, 1]^2, exactly. A
    polynomial is {(power of x, power of y): coefficient}."""
    def times(p, q):
        result = {}
        for (a, b), u in p.items():
            for (c, d), v in q.items():
                result[a + c, b + d] = result.get((a + c, b + d), 0) + u * v
        return result

    def integral(p):
        return sum(v * fractions.Fraction(4, (a + 1) * (b + 1))
                   for (a, b), v in p.items() if a % 2 == 0 and b % 2 == 0)

    def shape(x, y):
        along = {(0, 0): 1, (1, 0): x}, {(0, 0): 1, (0, 1): y}
        half = fractions.Fraction(1, 2)
        if x == 0:
            return times(times({(0, 0): half}, {(0, 0): 1, (2, 0): -1}), along[1])
        if y == 0:
            return times(times({(0, 0): half}, {(0, 0): 1, (0, 2): -1}), along[0])
        return times(times(times({(0, 0): half / 2}, along[0]), along[1]),
                     {(0, 0): -1, (1, 0): x, (0, 1): y})

    around = [(1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)]
    shapes = [shape(x, y) for x, y in around]
    return [[45 * integral(times(p, q)) for q in shapes] for p in shapes]


def test_generator(t):
    with open(MATRIX, encoding="utf-8") as file:
        text = file.read()
    arguments = re.search(r"wathen\.py (\d+) (\d+)", text)
    made = t.run(GENERATOR, *arguments.groups(), program=sys.executable)
    t.check("the generator writes the file", made.returncode == 0 and made.stdout == text)
    t.check("the element matrix", wathen.ELEMENT == element(), element())
    first, right, above = (set(wathen.nodes(i, j, 3)) for i, j in [(0, 0), (1, 0), (0, 1)])
    t.check("nodes are shared", first & right == {3, 9, 14} and first & above == {12, 13, 14})
    t.check("wrong use", t.run(GENERATOR, program=sys.executable).returncode == 1)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: test_cg.py CG_PLAIN CG")
    with tempfile.TemporaryDirectory() as folder:
        t = Test(sys.argv[1], sys.argv[2], folder)
        test_devices(t, *test_solution(t))
        test_options(t)
        test_kinds_of_files(t)
        test_bad_files(t)
        test_generator(t)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
