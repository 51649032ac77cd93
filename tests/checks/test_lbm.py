#!/usr/bin/env python3
"""Checks examples/lbm: test_lbm.py LBM

The flow between walls is a parabola on every context and in every layout, and pressure falls along it as the viscosity
makes it; there the pictures and the plot of a flow are the same files. Pictures show an obstacle where the given one is
opaque, whatever kind of PNG that is, and a wake behind it; the plot has as many points as there are samples. A plot is
written into the file that is there. A flow that diverges is told. What is wrong with the command line, a picture or a
directory is said in one line, and leaves no file.
"""
import math
import os
import re
import struct
import sys
import tempfile
import xml.etree.ElementTree as xml
import zlib

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position

SITES = 8  # over the height of all obstacles here; of their own pixels as many
SMALL = ["--sites", str(SITES), "--reynolds", "50"]
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
STILL = (10, 13, 28)  # how a frame shows fluid that does not turn


# ---- PNG files ---------------------------------------------------------------------------------


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(row, depth):
    """Pixels, each of which is a tuple of samples, behind the number of their filter, which is none."""
    bits = "".join(f"{v:0{depth}b}" for pixel in row for v in pixel)
    bits += "0" * (-len(bits) % 8)
    return b"\0" + bytes(int(bits[k:k + 8], 2) for k in range(0, len(bits), 8))


def passes(rows):
    """Those of Adam7, but for empty ones."""
    for y, x, down, along in [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
                              (1, 0, 2, 1)]:
        yield [row[x::along] for row in rows[y::down] if row[x::along]]


def png(rows, kind=GREY_ALPHA, depth=8, interlaced=False, more=b""):
    """Of rows of pixels; `more`: chunks in front of the data."""
    parts = passes(rows) if interlaced else [rows]
    data = b"".join(packed(row, depth) for part in parts for row in part)
    return head(len(rows[0]), len(rows), kind, depth, interlaced) + more + chunk(
        b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def head(width, height, kind=GREY_ALPHA, depth=8, interlaced=False):
    return b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))


def without_filter(kind, row, above, step):
    """A row of bytes as it was before its filter."""
    for k, value in enumerate(row):
        left, up, corner = (row[k - step], above[k], above[k - step]) if k >= step else (0, above[k], 0)
        nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
        row[k] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return row


def read_png(path):
    """Rows of pixels, of a file of RGB with 8 bits that is not interlaced, as frames are."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, body = 8, b""
    while at < len(data):
        (length, ), name = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        content = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + content), path
        if name == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", content)
            assert form == [8, RGB, 0, 0, 0], form
        body += content if name == b"IDAT" else b""
        at += 12 + length
    assert name == b"IEND" and at == len(data), path
    body, rows, above = zlib.decompress(body), [], bytes(3 * width)
    assert len(body) == height * (3 * width + 1), path
    for j in range(height):
        line = body[j * (3 * width + 1):(j + 1) * (3 * width + 1)]
        above = without_filter(line[0], bytearray(line[1:]), above, 3)
        rows.append([tuple(above[3 * i:3 * i + 3]) for i in range(width)])
    return rows


# ---- obstacles ---------------------------------------------------------------------------------

# As high as there are sites over it, so that each pixel is a site; no turn or mirror image of it is the same.
SHAPE = ["##.......", "##.......", "##.......", "##.....##", "##...####", "#########", "#########", "#########"]


def drawn(opaque, clear, shape=None, edge=2):
    """Rows of pixels, with transparent ones around."""
    shape = shape or SHAPE
    width = len(shape[0]) + 2 * edge
    inside = [[clear] * edge + [opaque if c == "#" else clear for c in line] + [clear] * edge for line in shape]
    return [[clear] * width] * edge + inside + [[clear] * width] * edge


def square(side, size):
    """An opaque square in a picture of size x size."""
    return png([[(200, 255 if i < side and j < side else 0) for i in range(size)] for j in range(size)])


def kinds_of_png():
    """Name, file, and the colour of the obstacle."""
    green, grey = (0, 200, 0), (200, 200, 200)
    yield "RGBA", png(drawn((*green, 128), (*green, 127)), RGBA), green
    yield "RGBA, 16 bits", png(drawn((0, 200 * 257, 0, 32768), (9, 9, 9, 32767)), RGBA, 16), green
    yield "RGBA, interlaced", png(drawn((*green, 255), (*green, 0)), RGBA, interlaced=True), green
    yield "grey and alpha", png(drawn((200, 128), (200, 127))), grey
    yield "grey and alpha, 16 bits", png(drawn((200 * 257, 65535), (7, 0)), GREY_ALPHA, 16), grey
    yield "a transparent grey", png(drawn((200, ), (201, )), GREY, more=chunk(b"tRNS", b"\0\xc9")), grey
    for depth in 1, 2, 4, 16:
        most = (1 << depth) - 1
        data = png(drawn((most, ), (0, )), GREY, depth, more=chunk(b"tRNS", b"\0\0"))
        yield f"a transparent grey, {depth} bits", data, (255, 255, 255)
    yield "a transparent colour", png(drawn(green, (1, 2, 3)), RGB,
                                      more=chunk(b"tRNS", struct.pack(">HHH", 1, 2, 3))), green
    palette = chunk(b"PLTE", bytes((9, 9, 9, *green))) + chunk(b"tRNS", b"\x7f")
    for depth in 1, 4, 8:
        yield f"a palette, {depth} bits", png(drawn((1, ), (0, )), PALETTE, depth, more=palette), green
    yield "a palette, interlaced", png(drawn((1, ), (0, )), PALETTE, 8, True, palette), green


def test_kinds(t):
    """The obstacle begins five heights from the left, and in the middle of eight; frames leave out the edge. Films want
    them to be even, whatever the obstacle is."""
    solid = {(3 * SITES + SITES // 2 + j - 1, 5 * SITES + i - 1)
             for j, line in enumerate(SHAPE) for i, c in enumerate(line) if c == "#"}
    for number, (name, data, colour) in enumerate(kinds_of_png()):
        frames = t.path(f"kind-{number}")
        done = t.run(*SMALL, "--quiet", "--time", "0.1", "--frames", frames, t.make("kind.png", data))
        rows = read_png(os.path.join(frames, "frame-0000.png")) if done.returncode == 0 else []
        found = {(j, i) for j, row in enumerate(rows) for i, pixel in enumerate(row) if pixel == colour}
        t.check(f"an obstacle of {name}", found == solid, done, sorted(found ^ solid)[:9])
        t.check(f"even frames, {name}", rows and len(rows) % 2 == 0 and len(rows[0]) % 2 == 0)


# ---- flows -------------------------------------------------------------------------------------


def test_contexts(t):
    """All that is written is the same, but for the plot's and the pictures' names."""
    def flow(number, *where):
        folder = t.path(f"frames-{number}")
        done = t.run(*SMALL, *where, "--quiet", "--time", "0.5", "--frames", folder, "--plot", t.path("same.svg"))
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))] + [t.path("same.svg")]
        contents = []
        for file in files:
            with open(file, "rb") as opened:
                contents.append(opened.read())
        return done, contents

    done, host = flow("host")
    lines = done.stdout.splitlines()
    coefficients = r"drag coefficient \d+\.\d+, lift coefficient -?\d+\.\d+ "
    t.check("a small flow", len(lines) == 2 and re.match(coefficients, lines[1]) and len(host) == 3, done)
    for number, (context, layout) in enumerate([("host", "soa"), ("host", "aosoa(16)"), ("sim", "aos"),
                                                ("opencl", "soa"), ("opencl", "aosoa(8)")]):
        name = f"{layout} on {context}"
        if context == "opencl" and t.lacks(t.run("--check", "poiseuille", "--context", context), context):
            t.skip(name, "there is none")
            continue
        where = ["--context", context, "--layout", layout]
        done = t.run("--check", "poiseuille", *where)
        t.check(f"a parabola, {name}", done.returncode == 0 and "L2 error 0." in done.stdout, done)
        within = re.search(r"pressure gradient within (\d+\.\d+) % of 12 nu rho U / W\^2 ", done.stdout)
        t.check(f"pressure falls as the viscosity makes it, {name}", within and float(within[1]) < 3, done)
        done, there = flow(number, *where)
        t.check(f"the same drag, {name}", done.stdout.splitlines()[1:] == lines[1:], done, lines)
        t.check(f"the same files, {name}", there == host)


def check_progress(t, done):
    told = re.findall(r"^time ([\d.]+) of 4\.0, ([\d.]+) MLUPS, drag coefficient (-?[\d.]+)$", done.stdout, re.M)
    numbers = [[float(v) for v in line] for line in told]
    t.check("ten lines of progress", len(numbers) == 10 and [n[0] for n in numbers] == sorted(n[0] for n in numbers)
            and numbers[-1][0] == 4 and all(n[1] > 0 for n in numbers), done.stdout)
    t.check("drag is that of a square", 0.5 < numbers[-1][2] < 5, done.stdout)


def is_turning(pixel, colder):
    """Clockwise (colder), or the other way."""
    red, _, blue = pixel
    return max(abs(a - b) for a, b in zip(pixel, STILL)) > 25 and (blue > red) == colder


def check_frames(t, folder, columns, rows):
    names = [f"frame-{k:04}.png" for k in range(9)]
    t.check("two frames for each unit of time", sorted(os.listdir(folder)) == names, os.listdir(folder))
    frames = [read_png(os.path.join(folder, name)) for name in names]
    t.check("all of the inside", all(len(f) == rows - 2 and {len(row) for row in f} == {columns - 2} for f in frames))
    first, last = frames[0], frames[-1]
    top, begin = 3 * SITES + SITES // 2 - 1, 5 * SITES - 1
    box = [row[begin:begin + SITES] for row in last[top:top + SITES]]
    t.check("the obstacle, in its colour", box == [[(200, 200, 200)] * SITES] * SITES, box)
    free = [pixel for row in last[2:-2] for pixel in row[2:2 * SITES]]
    t.check("nothing turns far before it", not any(is_turning(p, True) or is_turning(p, False) for p in free))
    above, below = ([pixel for row in part for pixel in row[begin + SITES:begin + 3 * SITES]]
                    for part in (last[top - SITES // 2:top + SITES // 2], last[top + SITES // 2:top + 3 * SITES // 2]))
    t.check("behind it, this way above and that way below", all(
        sum(is_turning(p, colder) for p in part) > SITES and
        sum(is_turning(p, colder) for p in part) > 2 * sum(is_turning(p, not colder) for p in part)
        for part, colder in ((above, True), (below, False))), above, below)
    t.check("there was no such wake at first", first[top + 1][begin + 2 * SITES] == STILL)


def check_plot(t, path, samples):
    """x goes from one end of the frame to the other in equal steps."""
    name = "{http://www.w3.org/2000/svg}"
    root = xml.parse(path).getroot()
    curves = [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
              for line in root.iter(name + "polyline")]
    t.check("a plot of drag and lift", root.tag == name + "svg" and len(curves) == 2 and
            {"drag", "lift"} <= {e.text for e in root.iter(name + "text")})
    t.check("as many points as samples", [len(c) for c in curves] == [samples] * 2, [len(c) for c in curves])
    t.check("their places are finite", all(math.isfinite(v) for c in curves for point in c for v in point), curves)
    t.check("they go on in time", all(abs(c[k][0] - 60 - 720 * (k + 1) / samples) < 0.02
                                      for c in curves for k in range(samples)), curves)
    t.check("drag and lift differ, and end within the plot", all(
        20 <= c[-1][1] <= 300 and len({y for _, y in c}) > samples // 2 for c in curves) and curves[0] != curves[1])


def test_files(t):
    """A sample is ten steps of a tenth of a site each: eight of them are a unit of time."""
    frames, plot = t.path("frames"), t.path("forces.svg")
    done = t.run(*SMALL, "--time", "4", "--frames", frames, "--plot", plot, t.make("square.png", square(8, 12)))
    t.check("a picture's flow", done.returncode == 0 and done.stderr == "", done)
    check_progress(t, done)
    check_frames(t, frames, 5 * SITES + SITES + 14 * SITES, 8 * SITES)
    check_plot(t, plot, 32)


def test_names(t):
    """A bar across the stream has about as much lift as drag: the names of both can be read."""
    bar = ["." * k + "##" + "." * (SITES - 1 - k) for k in range(SITES)]
    plot = t.path("bar.svg")
    done = t.run(*SMALL, "--quiet", "--time", "2", "--plot", plot, t.make("bar.png", png(drawn((1, 255), (1, 0), bar))))
    heights = [float(e.get("y")) for e in xml.parse(plot).getroot().iter("{http://www.w3.org/2000/svg}text")
               if e.text in ("drag", "lift")]
    t.check("names do not overlap", len(heights) == 2 and 12 < abs(heights[0] - heights[1]) < 16, done, heights)


def test_divergence(t):
    kept = t.make("kept.svg", "what was there")
    done = t.bad("a flow that diverges", 1, "the flow diverges", "--sites", "8", "--coarse", "--reynolds", "1000",
                 "--time", "4", "--quiet", "--plot", kept)
    with open(kept, encoding="utf-8") as file:
        t.check("its plot is not written", file.read() == "what was there")
    t.check("and nothing is said of drag", "coefficient" not in done.stdout, done)
    os.symlink("made.svg", t.path("link-to-none.svg"))
    t.bad("a flow that diverges, and a plot that is new", 1, "the flow diverges", "--sites", "8", "--coarse",
          "--reynolds", "1000", "--time", "4", "--quiet", "--plot", t.path("link-to-none.svg"))
    t.check("is not there, either", os.path.islink(t.path("link-to-none.svg")) and not os.path.exists(t.path("made.svg")))


LITTLE = [*SMALL, "--quiet", "--time", "0.1"]


def plotted(t, name, path):
    """A plot there, and nothing behind it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    t.check(name, text.startswith("<svg ") and text.endswith("</svg>\n") and text.count("</svg>") == 1, text[-200:])


def test_plots(t):
    """A file that is there is written to, and not replaced by another. It is longer than a plot."""
    kept = t.make("long.svg", "what was there\n" * 4096)
    os.chmod(kept, 0o640)
    os.symlink("long.svg", t.path("link.svg"))
    before = os.stat(kept)
    done = t.run(*LITTLE, "--plot", t.path("link.svg"))
    after = os.stat(kept)
    t.check("a plot by a link", done.returncode == 0 and os.path.islink(t.path("link.svg")), done)
    plotted(t, "what the link names has the plot", kept)
    t.check("it is the same file, of the same mode", (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode))

    done = t.run(*LITTLE, "--plot", t.path("link-to-none.svg"))
    t.check("a plot by a link to no file yet", done.returncode == 0 and os.path.islink(t.path("link-to-none.svg")), done)
    plotted(t, "the link's file is made", t.path("made.svg"))

    done = t.run(*LITTLE, "--frames", t.path("both"), "--plot", t.path("both/forces.svg"))
    t.check("a plot among frames that are new", done.returncode == 0, done)
    plotted(t, "it is there", t.path("both/forces.svg"))


def test_short_of_room(t):
    """Files may have 1024 bytes at most, which is less than a plot takes, and as much as one of clang's OpenMP has."""
    limited = 'ulimit -f 2 || exit 9; exec "$0" "$@"'
    for name, old in ("short", b"what was there\n"), ("new", None):
        path = t.path(f"room-{name}.svg")
        if old:
            t.make(f"room-{name}.svg", old)
        done = t.run("-c", limited, t.program, *LITTLE, "--plot", path, program="/bin/sh")
        t.check(f"no room for a plot, {name}", done.returncode == 1 and "File too large" in done.stderr, done)
        there = None
        if os.path.exists(path):
            with open(path, "rb") as file:
                there = file.read()
        t.check(f"and what was there is kept, {name}", there == old, there and there[:99])


def test_options(t):
    t.bad("another option", 2, "there is no option", "--colour", "red")
    t.bad("no value", 2, "--sites wants a value", "--sites")
    t.bad("another option, last", 2, "there is no option --colour", "--colour")
    t.bad("a small number", 2, "from 8 to 512, not '7'", "--sites", "7")
    t.bad("no number", 2, "not 'nan'", "--reynolds", "nan")
    t.bad("too coarse", 2, "needs --sites 50", "--reynolds", "500")
    t.bad("no check", 2, "poiseuille or strouhal", "--check", "drag")
    t.bad("two pictures", 2, "one picture", "a.png", "b.png")
    t.bad("a check of a picture", 2, "a flow of its own", "--check", "poiseuille", "a.png")
    t.bad("a plot of a check", 2, "a flow of its own", "--check", "strouhal", "--plot", "a.svg")
    t.bad("no such context", 1, "nosuch", "--context", "nosuch")
    done = t.run("--help")
    t.check("help", done.returncode == 0 and done.stderr == "" and "--layout" in done.stdout, done)


def test_layouts(t):
    """Those in which a number of a site cannot be pointed to. Nothing has been written then."""
    for layout, why in [("aosob(16)", "aosob"), ("byteswap(aos)", "no view"), ("bytesplit(soa)", "no view"),
                        ("changetype(f32: f64; soa)", "no view"), ("aos(packed)", "may be misaligned")]:
        frames, plot = t.path("refused"), t.path("refused.svg")
        for context in "host", "sim":
            t.bad(f"the layout {layout} on {context}", 1, why, *SMALL, "--context", context, "--layout", layout,
                  "--frames", frames, "--plot", plot)
            t.check(f"no files, {layout} on {context}",
                    not [n for n in os.listdir(t.folder) if n.startswith("refused")])


def test_bad_pictures(t):
    good = square(8, 12)
    t.bad("no such picture", 1, "No such file", t.path("nosuch.png"))
    t.bad("no picture", 1, "not a PNG file", t.make("text.png", b"text, no picture"))
    t.bad("an empty file", 1, "not a PNG file", t.make("empty.png", b""))
    t.bad("a directory as picture", 1, "Is a directory", t.folder)
    t.bad("a header that is cut short", 1, "cut short", t.make("cut.png", good[:20]))
    t.bad("pixels that are cut short", 1, "cut short", t.make("cut.png", good[:-20]))
    t.bad("a wrong sum", 1, "CRC", t.make("sum.png", good[:-13] + bytes([good[-13] ^ 1]) + good[-12:]))
    t.bad("no pixels", 1, "zero", t.make("zero.png", head(0, 9) + good[33:]))
    t.bad("too many pixels", 1, "too large", t.make("huge.png", head((1 << 31) - 1, (1 << 31) - 1) + good[33:]))
    t.bad("all opaque", 1, "all of it is opaque", t.make("opaque.png", square(6, 6)))
    t.bad("no alpha", 1, "all of it is opaque", t.make("grey.png", png([[(1, )] * 8] * 8, GREY)))
    t.bad("nothing opaque", 1, "no pixel of it is opaque", t.make("clear.png", square(0, 6)))
    t.bad("too small", 1, "too small", t.make("small.png", square(3, 6)))
    t.bad("too wide", 1, "20 times as wide", t.make("wide.png", png(drawn((1, 255), (1, 0), ["#" * 81] * 4))))
    t.bad("lost between sites", 1, "more --sites", *SMALL,
          t.make("comb.png", png(drawn((1, 255), (1, 0), ["#" * 32, *["." * 32] * 30, "#" * 32]))))


def test_bad_places(t):
    text = t.make("text.png", b"text, no picture")
    t.bad("no directory", 1, "No such file", "--frames", t.path("no/where"))
    done = t.bad("a file as directory", 1, "Not a directory", "--time", "0.1", "--quiet", "--frames", text)
    t.check("it is told before anything else", done.stdout == "", done)
    t.bad("no room for the plot", 1, "No such file", "--plot", t.path("no/where.svg"))
    t.bad("a directory as plot", 1, "Is a directory", "--plot", t.folder)
    t.bad("a file as the plot's directory", 1, "Not a directory", "--plot", os.path.join(text, "a.svg"))
    if os.path.exists("/dev/full"):
        t.bad("a full device", 1, "No space", *SMALL, "--quiet", "--time", "0.1", "--plot", "/dev/full")
    if os.geteuid() == 0:
        t.skip("places that may not be written", "root may")
        return
    os.mkdir(t.path("locked"), 0o555)
    t.bad("a locked directory", 1, "Permission denied", "--frames", t.path("locked"))
    t.bad("a plot in a locked directory", 1, "Permission denied", "--plot", t.path("locked/a.svg"))
    os.chmod(t.path("locked"), 0o755)
    there = t.make("locked/there.svg", "what was there")
    os.chmod(t.path("locked"), 0o555)
    done = t.run(*LITTLE, "--plot", there)
    t.check("a plot that is there in a locked directory", done.returncode == 0, done)
    plotted(t, "it is written", there)
    os.chmod(there, 0o444)
    t.bad("a locked plot", 1, "Permission denied", "--plot", there)


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Checks(sys.argv[1], folder, HARRAY_CACHE="off")
        test_kinds(t)
        test_contexts(t)
        test_files(t)
        test_names(t)
        test_divergence(t)
        test_plots(t)
        test_short_of_room(t)
        test_options(t)
        test_layouts(t)
        test_bad_pictures(t)
        test_bad_places(t)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
