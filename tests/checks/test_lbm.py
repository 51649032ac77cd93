#!/usr/bin/env python3
"""Checks examples/lbm: test_lbm.py LBM

The flow between walls is a parabola on every context and in every layout, and forces have the same bits there;
what is wrong with the command line, a picture or a directory is said in one line.
"""
import os
import re
import struct
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows):
    """Of grey pixels with alpha, or of grey ones where rows have numbers."""
    alpha = isinstance(rows[0][0], tuple)
    data = b"".join(b"\0" + (bytes(v for p in row for v in p) if alpha else bytes(row)) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 4 if alpha else 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data))
            + chunk(b"IEND", b""))


def square(side, size):
    """An opaque square in a picture of size x size."""
    return png([[(200, 255 if i < side and j < side else 0) for i in range(size)]
                for j in range(size)])


def test_contexts(t):
    small = ["--quiet", "--sites", "8", "--time", "0.5", "--reynolds", "50"]
    host = t.run(*small).stdout.splitlines()
    t.check("a small flow", len(host) == 2 and re.match(r"drag coefficient \d", host[1]), host)
    for context, layout in [("host", "soa"), ("host", "aosoa(16)"), ("sim", "aos"), ("opencl", "soa"),
                            ("opencl", "aosoa(8)")]:
        name = f"{layout} on {context}"
        if context == "opencl" and "poiseuille" not in t.run(
                "--check", "poiseuille", "--context", context).stdout:
            t.skip(name, "there is none")
            continue
        where = ["--context", context, "--layout", layout]
        done = t.run("--check", "poiseuille", *where)
        t.check(f"a parabola, {name}", done.returncode == 0 and "L2 error 0." in done.stdout, done)
        done = t.run(*small, *where)
        t.check(f"the same drag, {name}", done.stdout.splitlines()[1:] == host[1:], done, host)


def test_files(t):
    frames, plot = t.path("frames"), t.path("forces.svg")
    done = t.run("--sites", "8", "--reynolds", "50", "--time", "0.6", "--frames", frames, "--plot", plot,
                 t.make("square.png", square(5, 9)))
    t.check("a picture's flow", done.returncode == 0 and done.stderr == "", done)
    t.check("two frames", sorted(os.listdir(frames)) == ["frame-0000.png", "frame-0001.png"])
    with open(plot, encoding="utf-8") as file:
        text = file.read()
    t.check("a plot", text.count("<polyline") == 2 and text.endswith("</svg>\n"), text[:300])


def test_bad(t):
    t.bad("another option", 2, "there is no option", "--colour", "red")
    t.bad("no value", 2, "--sites", "--sites")
    t.bad("a small number", 2, "from 8 to 512, not '7'", "--sites", "7")
    t.bad("no number", 2, "not 'nan'", "--reynolds", "nan")
    t.bad("too coarse", 2, "needs --sites 50", "--reynolds", "500")
    t.bad("no check", 2, "poiseuille or strouhal", "--check", "drag")
    t.bad("two pictures", 2, "one picture", "a.png", "b.png")
    t.bad("no such context", 1, "nosuch", "--context", "nosuch")
    t.bad("no such layout", 1, "aosob", "--layout", "aosob(16)")
    t.bad("no such picture", 1, "No such file", t.path("nosuch.png"))
    t.bad("no picture", 1, "not a PNG file", t.make("text.png", b"text, no picture"))
    t.bad("all opaque", 1, "all of it is opaque", t.make("opaque.png", square(6, 6)))
    t.bad("no alpha", 1, "all of it is opaque", t.make("grey.png", png([[1] * 8] * 8)))
    t.bad("nothing opaque", 1, "no pixel of it is opaque", t.make("clear.png", square(0, 6)))
    t.bad("too small", 1, "too small", t.make("small.png", square(3, 6)))
    t.bad("no directory", 1, "No such file", "--frames", t.path("no/where"))
    t.bad("a file as directory", 1, "Not a directory", "--time", "0.1", "--quiet", "--frames",
          t.path("text.png"))
    t.bad("no room for the plot", 1, "No such file", "--plot", t.path("no/where.svg"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Checks(sys.argv[1], folder, HARRAY_CACHE="off")
        test_contexts(t)
        test_files(t)
        test_bad(t)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
