"""Checks examples/blur: python3 test_blur.py BLUR PHOTOGRAPH.png

The references are written from the description of the blur alone, in another way than the program:
every pass is one sum over a square of pixels, in double precision; and for the photograph, all
passes together are one Gaussian that is not cut off. PNG files are made and read by the few lines
below, with nothing but the standard library.
"""

import json
import math
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG colour type
ADAM7 = [
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
]
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6


# ---- PNG ------------------------------------------------------------------------------------


class Picture:
    """pixels[y][x] is a tuple of whole numbers, one for each channel."""

    def __init__(self, pixels, depth):
        self.pixels, self.depth = pixels, depth
        self.width, self.height, self.channels = len(pixels[0]), len(pixels), len(pixels[0][0])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack_row(row, depth):
    samples = [sample for pixel in row for sample in pixel]
    if depth == 16:
        return struct.pack(">%dH" % len(samples), *samples)
    bits = "".join(format(sample, "0%db" % depth) for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def png_bytes(
    pixels, colour, depth, interlaced=False, palette=None, alphas=None, size=None, extra=b""
):
    """A PNG file. Rows are not filtered; `size` overrides what the header says."""
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    rows = b""
    for x0, y0, dx, dy in passes:
        for row in pixels[y0::dy]:
            if row[x0::dx]:
                rows += b"\0" + pack_row(row[x0::dx], depth)
    width, height = size or (len(pixels[0]), len(pixels))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
    if palette:
        data += chunk(b"PLTE", bytes(value for entry in palette for value in entry))
    if alphas:
        data += chunk(b"tRNS", bytes(alphas))
    return data + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, above, step):
    """Undoes one row's filter, in place."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        line[i] = (
            line[i]
            + (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]
            & 255
        )


def read_png(path):
    """Reads what blur writes, and photographs: 8 or 16 bits, no palette, not interlaced."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    position, packed, header = 8, b"", None
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        body = data[position + 8 : position + 8 + length]
        (crc,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert crc == zlib.crc32(kind + body), (path, kind)
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        position += 12 + length
    assert kind == b"IEND", path
    width, height, depth, colour, _, _, interlaced = header
    assert depth in (8, 16) and colour != PALETTE and not interlaced, header
    channels = CHANNELS[colour]
    step = channels * depth // 8
    raw, above, pixels = zlib.decompress(packed), bytes(width * step), []
    assert len(raw) == height * (1 + width * step), path
    for start in range(0, len(raw), 1 + width * step):
        line = bytearray(raw[start + 1 : start + 1 + width * step])
        unfilter(raw[start], line, above, step)
        samples = struct.unpack(">%d%s" % (width * channels, "B" if depth == 8 else "H"), line)
        pixels.append([samples[i : i + channels] for i in range(0, len(samples), channels)])
        above = line
    return Picture(pixels, depth)


# ---- the reference --------------------------------------------------------------------------


def light_of(sample, most):
    v = sample / most
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def sample_of(light, most):
    v = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return min(max(v, 0), 1) * most


def to_light(picture):
    """Lists of linear light, premultiplied by alpha, alpha last."""
    most, has_alpha = 2**picture.depth - 1, picture.channels % 2 == 0
    colours = picture.channels - has_alpha
    table = {}
    result = []
    for row in picture.pixels:
        out = []
        for pixel in row:
            for sample in pixel:
                if sample not in table:
                    table[sample] = light_of(sample, most)
            alpha = pixel[-1] / most if has_alpha else 1
            out.append([table[sample] * alpha for sample in pixel[:colours]] + [alpha] * has_alpha)
        result.append(out)
    return result


def from_light(pixel, most):
    """The samples of a pixel, not rounded."""
    if len(pixel) % 2 == 1:
        return [sample_of(value, most) for value in pixel]
    alpha = pixel[-1]
    return [sample_of(value / alpha if alpha > 0 else 0, most) for value in pixel[:-1]] + [
        alpha * most
    ]


def gaussian_at(light, x, y, sigma, radius):
    """One Gaussian around a pixel, as a sum over a square; the edge pixels go on for ever."""
    height, width = len(light), len(light[0])
    total, sums = 0.0, [0.0] * len(light[0][0])
    for dy in range(-radius, radius + 1):
        row = light[min(max(y + dy, 0), height - 1)]
        for dx in range(-radius, radius + 1):
            weight = math.exp(-(dx * dx + dy * dy) / (2 * sigma * sigma))
            total += weight
            for channel, value in enumerate(row[min(max(x + dx, 0), width - 1)]):
                sums[channel] += weight * value
    return [value / total for value in sums]


def reference(picture, sigma, passes):
    """The whole picture, every pass by itself; samples are not rounded."""
    light, one = to_light(picture), sigma / math.sqrt(passes)
    for _ in range(passes):
        light = [
            [gaussian_at(light, x, y, one, math.ceil(4 * one)) for x in range(picture.width)]
            for y in range(picture.height)
        ]
    most = 2**picture.depth - 1
    return [[from_light(pixel, most) for pixel in row] for row in light]


def furthest(picture, wanted):
    """The largest difference, in units of the last bit; rounding makes up to half of one."""
    return max(
        abs(sample - value)
        for row, wanted_row in zip(picture.pixels, wanted)
        for pixel, wanted_pixel in zip(row, wanted_row)
        for sample, value in zip(pixel, wanted_pixel)
    )


# ---- running --------------------------------------------------------------------------------


class Test:
    def __init__(self, program, photograph, directory):
        self.program, self.photograph, self.directory = program, photograph, directory
        self.failures = 0

    def path(self, name):
        return os.path.join(self.directory, name)

    def make(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def run(self, *arguments, environment=None, **keywords):
        variables = {
            k: v
            for k, v in os.environ.items()
            if k not in ("HARRAY_SIM", "HARRAY_DEVICE", "HARRAY_VERBOSE", "HARRAY_TRACE")
        }
        # Under ThreadSanitizer, a program would sleep a second before it ends.
        variables["TSAN_OPTIONS"] = variables.get("TSAN_OPTIONS", "") + " atexit_sleep_ms=0"
        variables.update(environment or {})
        return subprocess.run(
            [self.program, *arguments],
            capture_output=True,
            text=True,
            env=variables,
            **keywords
        )

    def check(self, name, truth, *details):
        if not truth:
            self.failures += 1
            print("FAILED:", name, *details)
        return truth

    def good(self, name, *arguments, **keywords):
        done = self.run(*arguments, **keywords)
        self.check(
            name,
            done.returncode == 0 and done.stderr == "",
            done.returncode,
            done.stdout,
            done.stderr,
        )
        return done.stdout

    def bad(self, name, status, message, *arguments, out="refused.png", **keywords):
        """One line on stderr, the exit status, and no file left."""
        before = sorted(os.listdir(self.directory))
        done = self.run(*arguments, self.path(out), **keywords)
        self.check(name, done.returncode == status, "exit status", done.returncode, done.stderr)
        lines = done.stderr.splitlines()
        self.check(
            name, len(lines) == 1 and lines[0].startswith("blur: "), "stderr", repr(done.stderr)
        )
        self.check(name, message in done.stderr, "no", repr(message), "in", repr(done.stderr))
        self.check(
            name, sorted(os.listdir(self.directory)) == before, "left", os.listdir(self.directory)
        )


# ---- the photograph -------------------------------------------------------------------------


def moved_and_naive(text):
    for line in text.splitlines():
        if line.startswith("moved ") and "both ways" in line:
            numbers = [float(number) for number in re.findall(r"([0-9.]+) MB", line)]
            return numbers[0], numbers[1]
    return None


def test_devices(t):
    """The same bytes, whatever the device, also when its queue is slow."""
    texts, files = {}, {}
    slow = {"HARRAY_SIM": "delay=2ms,seed=7"}
    runs = [
        ("host", "host", {}),
        ("sim", "sim", {}),
        ("sim:1", "sim:1", {}),
        ("slow", "sim:0", slow),
    ]
    compiled = t.run("--device", "opencl", t.photograph, t.path("opencl.png"))
    if compiled.returncode == 0:
        runs.append(("opencl:0", "opencl", {"HARRAY_KERNELS": "strict"}))
    else:
        print("without OpenCL:", compiled.stderr.strip())
    for name, device, environment in runs:
        out = t.path("photo-%s.png" % name.replace(":", ""))
        texts[name] = t.good(
            name, "--device", device, "--sigma", "3", t.photograph, out, environment=environment
        )
        with open(out, "rb") as file:
            files[name] = file.read()
    t.check("devices agree", len(set(files.values())) == 1)
    return texts, t.path("photo-host.png")


def samples_of(picture):
    return picture.width * picture.height * picture.channels


def mb(count):
    """Bytes as megabytes, with the digits that are printed."""
    return round(count / 1e6, 2)


class Traffic:
    """What moves, in bytes, when the device has the upper half of the rows. In each pass the step along
    the columns reads `radius` rows of the other's, as far as there are so many; and the weights move
    once. Without the library, each device step would copy what it reads there and its result back."""

    def __init__(self, picture, sigma, passes):
        row = picture.width * picture.channels * 4
        radius, height, upper = math.ceil(4 * sigma / math.sqrt(passes)), picture.height, (
            picture.height // 2
        )
        self.passes, self.weights = passes, (2 * radius + 1) * 4 if upper else 0
        self.half = upper * row
        self.up = min(radius, height - upper) * row if upper else 0  # from the host to the device
        self.down = min(radius, upper) * row
        self.naive_pass = 4 * self.half + self.up + 2 * self.weights

    def so_far(self, passes):
        return self.half + self.weights + passes * (self.up + self.down)

    def moved(self):
        return self.so_far(self.passes) + self.half

    def naive(self):
        return self.passes * self.naive_pass

    def transfers(self):
        """{array: {(from, to): bytes}}, without those of nothing."""
        every = {
            "weights": {("host", "sim:0"): self.weights},
            "picture": {("host", "sim:0"): self.half, ("sim:0", "host"): self.half},
            "next": {
                ("host", "sim:0"): self.passes * self.up,
                ("sim:0", "host"): self.passes * self.down,
            },
        }
        moving = {a: {way: n for way, n in ways.items() if n} for a, ways in every.items()}
        return {array: ways for array, ways in moving.items() if ways}


def test_output(t, texts, photo):
    traffic = Traffic(photo, 3, 4)
    upper = photo.height // 2
    for name in sorted(set(texts) - {"host"}):
        text, device = texts[name], name if ":" in name else "sim:0"
        moved = moved_and_naive(text)
        if t.check("bytes are printed", moved is not None, text):
            t.check("bytes moved", moved[0] == mb(traffic.moved()), name, moved)
            t.check("bytes both ways", moved[1] == mb(traffic.naive()), name, moved)
            t.check("far fewer are moved", moved[0] < moved[1] / 5, name, moved)
        for k in range(4):
            t.check("progress", "pass %d of 4 on %s and host\n" % (k + 1, device) in text, text)
        t.check("name", text.count("picture: float[%d]" % samples_of(photo)) == 4, text)
        for where, rows in (device, (0, upper)), ("host", (upper, photo.height)):
            rows = "[0, %d) x [%d, %d) x [0, %d)\n" % (photo.channels, *rows, photo.width)
            lines = re.findall(r"^ +%s .*valid (.*\n)" % where, text, re.MULTILINE)
            t.check("table", lines == [rows] * 4, name, where, lines)
        so_far = [float(l.split()[3]) for l in text.splitlines() if "moved so far" in l]
        growing = [mb(traffic.so_far(k)) for k in (1, 2, 3, 4)]
        t.check("moved so far", so_far == growing, name, so_far)
        naive = [float(l.split()[-2]) for l in text.splitlines() if "moved so far" in l]
        growing = [mb(traffic.naive_pass * k) for k in (1, 2, 3, 4)]
        t.check("both ways so far", naive == growing, name, naive)
    t.check("host moves nothing", "moved 0.00 MB: every step" in texts["host"], texts["host"])
    t.check("host alone", texts["host"].count(" of 4 on host\n") == 4, texts["host"])
    for name, text in texts.items():
        last = text.splitlines()[-1]
        t.check(
            "last line",
            "wrote" in last
            and "%d x %d, %d planes" % (photo.width, photo.height, photo.channels) in last,
            name,
            last,
        )


def test_photograph(t, photo, blurred):
    """Pixels from all over it against one Gaussian; those near the edge see it otherwise."""
    t.check(
        "size",
        (blurred.width, blurred.height, blurred.channels, blurred.depth)
        == (photo.width, photo.height, photo.channels, photo.depth),
    )
    light, margin = to_light(photo), 25  # four passes reach 4 * 6 pixels
    chosen, worst, changed = random.Random(1), 0, 0
    for _ in range(300):
        x = chosen.randrange(margin, photo.width - margin)
        y = chosen.randrange(margin, photo.height - margin)
        wanted = from_light(gaussian_at(light, x, y, 3.0, 16), 255)
        worst = max(worst, max(abs(a - b) for a, b in zip(blurred.pixels[y][x], wanted)))
        changed += any(abs(a - b) > 4 for a, b in zip(photo.pixels[y][x], wanted))
    t.check("photograph equals the reference", worst <= 1, "differs by", worst)
    t.check("the reference is not the photograph", changed > 100, changed)
    for channel in range(photo.channels):
        before, after = (
            sum(pixel[channel] for row in l for pixel in row) for l in (light, to_light(blurred))
        )
        t.check("brightness is kept", abs(after / before - 1) < 0.005, channel, after / before)


def transfers_of(trace):
    """{array: [(from, to, bytes), ...]} in the order of their beginning."""
    found = {}
    for event in sorted((e for e in trace if e.get("cat") == "transfer"), key=lambda e: e["ts"]):
        a = event["args"]
        found.setdefault(a["array"], []).append((a["from"], a["to"], a["bytes"]))
    return found


def traced(t, name, *arguments):
    path = t.path("trace.json")
    t.good(name, "--trace", path, *arguments, t.path("out.png"))
    with open(path, encoding="utf-8") as file:
        return transfers_of(json.load(file))


def ways(transfers):
    """{(from, to): bytes} of one array."""
    sums = {}
    for source, target, count in transfers:
        sums[source, target] = sums.get((source, target), 0) + count
    return sums


def test_trace(t, photo):
    """The upper half goes to the device once and comes back once; in each pass only the rows around
    the middle move, those of all planes at once; and the weights do, once."""
    found = traced(t, "trace", "--sigma", "1", t.photograph)  # in a pass: radius 2
    halo = photo.channels * 2 * photo.width * 4
    there, back = ("host", "sim:0", halo), ("sim:0", "host", halo)
    half = photo.channels * (photo.height // 2) * photo.width * 4
    t.check("halos", sorted(found.get("next", [])) == sorted([there, back] * 4), found)
    t.check("halos back and forth", len({found["next"][k] for k in (0, 1)}) == 2, found)
    t.check("there once", found["picture"][0] == ("host", "sim:0", half), found)
    t.check("back once", ways(found["picture"][1:]) == {("sim:0", "host"): half}, found)
    t.check("weights", found.get("weights") == [("host", "sim:0", 5 * 4)], found)
    t.check("nothing else", set(found) == {"picture", "next", "weights"}, found)
    found = traced(t, "trace of a run without transfers", "--device", "host", t.photograph)
    t.check("no transfers on the host", found == {}, found)
    t.bad("no directory", 1, "nosuch/trace.json", "--trace", t.path("nosuch/trace.json"),
          t.photograph)


def test_halos(t):
    """Not a byte more than the halos, also where they end at the edge of the picture, or the device
    has nothing to do; and the same file as on the host alone."""
    for width, height, colour, sigma, passes in [
        (1, 1, RGB, 2, 4),
        (7, 1, GREY, 0.5, 2),
        (1, 2, RGBA, 0.2, 3),
        (3, 2, GREY, 5, 2),
        (5, 3, GREY_ALPHA, 0.3, 1),
        (4, 9, RGB, 0.5, 4),  # radius 1
        (4, 9, RGB, 2, 4),  # 4: all that the upper half has, one less than the lower
        (4, 9, RGB, 2.4, 4),  # 5: more than the upper half has
        (4, 9, RGBA, 30, 2),
        (9, 40, RGBA, 1.5, 7),
        (9, 41, GREY, 1.5, 2),
    ]:
        name = "halos of %dx%d, type %d, sigma %g" % (width, height, colour, sigma)
        pixels = noise(width, height, CHANNELS[colour], 8, height)
        file = t.make("halos.png", png_bytes(pixels, colour, 8))
        options = ["--sigma", str(sigma), "--passes", str(passes), file]
        found = {a: ways(l) for a, l in traced(t, name, *options).items()}
        wanted = Traffic(Picture(pixels, 8), sigma, passes).transfers()
        t.check(name, found == wanted, found, "instead of", wanted)
        t.good(name, "--device", "host", *options, t.path("host.png"))
        with open(t.path("out.png"), "rb") as one, open(t.path("host.png"), "rb") as other:
            t.check(name, one.read() == other.read(), "another picture than on the host")


def test_report(t):
    text = t.good("report", "--report", "--quiet", t.photograph, t.path("out.png"))
    t.check("report", "blur.c:" in text and "sim:0" in text, text)


def test_defaults(t):
    file = t.make("small.png", png_bytes([[(1, 2, 3)]], RGB, 8))
    text = t.good("defaults", file, t.path("out.png"))
    t.check("defaults", "on sim:0" in text and "1 x 1, 3 planes, sigma 6 in 4 passes" in text, text)
    text = t.good("quiet", "--quiet", file, t.path("out.png"))
    t.check("quiet", text == "", text)


# ---- made pictures --------------------------------------------------------------------------


def noise(width, height, channels, depth, seed):
    """Black and white in blocks, with noise between: both ends of the curve, and strong edges."""
    chosen = random.Random(seed)
    most = 2**depth - 1
    pick = lambda: chosen.choice(
        [0, 0, most, most, chosen.randint(0, most), chosen.randint(0, most)]
    )
    return [[tuple(pick() for _ in range(channels)) for _ in range(width)] for _ in range(height)]


def test_kinds(t):
    """Every kind of PNG, against the reference."""
    kinds = [  # width, height, colour type, bits, interlaced, sigma, passes
        (1, 1, RGB, 8, False, 6, 4),
        (1, 1, GREY, 16, True, 0.1, 1),
        (1, 9, GREY, 8, False, 1.0, 2),
        (9, 1, RGBA, 8, False, 2.0, 3),
        (2, 3, RGB, 16, True, 3.0, 1),
        (13, 11, GREY, 8, False, 1.5, 2),
        (13, 11, GREY, 16, True, 1.5, 1),
        (11, 9, GREY_ALPHA, 8, False, 1.0, 3),
        (11, 9, GREY_ALPHA, 16, False, 1.0, 1),
        (12, 10, RGB, 8, True, 1.2, 2),
        (12, 10, RGB, 16, False, 2.0, 4),
        (10, 13, RGBA, 8, True, 1.5, 2),
        (10, 13, RGBA, 16, True, 1.5, 2),
        (11, 5, GREY, 1, False, 0.8, 2),
        (11, 5, GREY, 2, True, 0.8, 1),
        (11, 5, GREY, 4, False, 0.8, 1),
    ]
    for seed, (width, height, colour, bits, interlaced, sigma, passes) in enumerate(kinds):
        name = "%dx%d-type%d-%dbit%s" % (
            width,
            height,
            colour,
            bits,
            "-adam7" if interlaced else "",
        )
        pixels = noise(width, height, CHANNELS[colour], bits, seed)
        file = t.make(name + ".png", png_bytes(pixels, colour, bits, interlaced))
        depth = max(bits, 8)
        scale = (2**depth - 1) // (2**bits - 1)
        wide = Picture(
            [[tuple(scale * v for v in pixel) for pixel in row] for row in pixels], depth
        )
        compare(t, name, file, wide, sigma, passes)


def compare(t, name, file, picture, sigma, passes):
    wanted = reference(picture, sigma, passes)
    for device in ("host", "sim"):
        out = t.path("out.png")
        t.good(name, "--device", device, "--sigma", str(sigma), "--passes", str(passes), file, out)
        got = read_png(out)
        shape = (got.width, got.height, got.channels, got.depth)
        t.check(
            name, shape == (picture.width, picture.height, picture.channels, picture.depth), shape
        )
        t.check(name, furthest(got, wanted) <= 1, device, "differs by", furthest(got, wanted))


def test_palette(t):
    chosen = random.Random(5)
    palette = [tuple(chosen.randint(0, 255) for _ in range(3)) for _ in range(13)]
    alphas = [0, 255, 128, 3, 77]  # the entries behind have 255
    indices = noise(9, 8, 1, 4, 6)
    indices = [[(i % 13,) for (i,) in row] for row in indices]
    for name, interlaced, opacities in [("palette", False, None), ("palette-alpha", True, alphas)]:
        file = t.make(name + ".png", png_bytes(indices, PALETTE, 4, interlaced, palette, opacities))
        entries = palette
        if opacities:
            entries = [entry + ((opacities + [255] * 13)[i],) for i, entry in enumerate(palette)]
        picture = Picture([[entries[i] for (i,) in row] for row in indices], 8)
        compare(t, name, file, picture, 1.1, 2)


def test_point(t):
    """One white pixel becomes the Gaussian itself: 1 / (2 pi sigma^2) in the middle."""
    pixels = [[(65535 * (x == 20 and y == 20),) for x in range(41)] for y in range(41)]
    file = t.make("point.png", png_bytes(pixels, GREY, 16))
    t.good("point", "--sigma", "3", "--passes", "1", file, t.path("out.png"))
    got = read_png(t.path("out.png")).pixels
    light = [[light_of(v, 65535) for (v,) in row] for row in got]
    t.check(
        "middle of the point",
        abs(light[20][20] / (1 / (2 * math.pi * 9)) - 1) < 0.001,
        light[20][20],
    )
    t.check("three to the side", abs(light[20][23] / light[20][20] / math.exp(-0.5) - 1) < 0.001)
    t.check("light of the point", abs(sum(map(sum, light)) - 1) < 0.001, sum(map(sum, light)))
    turned = all(got[y][x] == got[x][y] == got[40 - y][x] for y in range(41) for x in range(41))
    t.check("the point is round", turned)


def test_constant(t):
    """A picture of one colour stays as it is."""
    for value in range(0, 256, 15):
        pixel = (value, 255 - value, 128, 200)
        file = t.make("constant.png", png_bytes([[pixel] * 5] * 4, RGBA, 8))
        t.good("constant", "--sigma", "2", file, t.path("out.png"))
        got = read_png(t.path("out.png")).pixels
        t.check("constant", all(p == pixel for row in got for p in row), pixel, got[0][0])


# ---- bad files and bad arguments ------------------------------------------------------------


def test_bad_files(t):
    pixels = noise(20, 20, 3, 8, 3)
    whole = png_bytes(pixels, RGB, 8)
    make = t.make
    t.bad("missing file", 1, "nosuch.png: No such file", t.path("nosuch.png"))
    t.bad("a directory", 1, "Is a directory", t.directory)
    t.bad("empty file", 1, "not a PNG", make("empty.png", b""))
    t.bad(
        "not a PNG", 1, "not a PNG", make("text.png", b"This is a text, and not a picture at all.")
    )
    t.bad("a JPEG", 1, "not a PNG", make("jpeg.png", b"\xff\xd8\xff\xe0" + bytes(100)))
    for length in (8, 20, 40, len(whole) // 2, len(whole) - 12, len(whole) - 1):
        t.bad("cut at %d" % length, 1, "cut short", make("cut.png", whole[:length]))
    t.bad("damaged", 1, "damaged.png: ", make("damaged.png", whole[:300] + b"?" + whole[301:]))
    t.bad(
        "no rows",
        1,
        "no-rows.png: ",
        make("no-rows.png", png_bytes([pixels[0]], RGB, 8, size=(20, 20))),
    )
    for size in ((0, 20), (20, 0), (2**31, 20), (20, 2**32 - 1)):
        t.bad(
            "size %d x %d" % size,
            1,
            "size.png: ",
            make("size.png", png_bytes(pixels, RGB, 8, size=size)),
        )
    for size in ((2**31 - 1, 2**31 - 1), (2**31 - 1, 1), (2**16, 2**16)):
        t.bad(
            "size %d x %d" % size,
            1,
            "too large",
            make("size.png", png_bytes(pixels, RGB, 8, size=size)),
        )
    t.bad("colour type", 1, "IHDR", make("colour.png", png_bytes(pixels, 5, 8)))
    t.bad(
        "palette missing", 1, "palette.png: ", make("palette.png", png_bytes([[(1,)]], PALETTE, 8))
    )


def test_profile(t):
    """A colour profile is not looked at, which is said."""
    header = struct.pack(">I8x4s4s4s16s24x", 132, b"mntr", b"RGB ", b"XYZ ", bytes(12) + b"acsp")
    body = header + bytes(132 - len(header))  # no table follows
    profile = b"a profile\0\0" + zlib.compress(body, 0)  # libpng wants length
    file = t.make("profile.png", png_bytes([[(9, 9, 9)]], RGB, 8, extra=chunk(b"iCCP", profile)))
    done = t.run(file, t.path("out.png"))
    t.check("profile", done.returncode == 0 and "profile is ignored" in done.stderr, done.stderr)


def test_bad_output(t):
    file = t.make("small.png", png_bytes([[(1, 2, 3)]], RGB, 8))
    t.bad("no directory", 1, "No such file", file, out="nosuch/out.png")
    t.bad("output is a directory", 1, "Is a directory", file, out=".")
    os.mkfifo(t.path("pipe"))
    t.bad("output is a pipe", 1, "not a regular file", file, out="pipe")
    if os.geteuid() != 0:
        os.mkdir(t.path("locked"), 0o555)
        t.bad("no permission", 1, "Permission denied", file, out="locked/out.png")


def test_full_disk(t):
    """Writing fails, half way or when the file is closed: the file that was there stays."""
    old = t.make("old.png", b"what was there")
    small = t.make("small.png", png_bytes([[(1, 2, 3)]], RGB, 8))
    for file, room in ((t.photograph, 4096), (small, 10)):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        keywords = {"preexec_fn": limit, "restore_signals": False}
        t.bad("full disk", 1, "File too large", "--passes=1", file, out="old.png", **keywords)
        with open(old, "rb") as kept:
            t.check("old file", kept.read() == b"what was there")


def test_bad_devices(t):
    for device in ("nosuch", "sim:99", "sim:", "", "host:0:0"):
        t.bad("device '%s'" % device, 1, "blur: ", "--device", device, t.photograph)
    t.bad("device is named", 1, "nosuch", "--device", "nosuch", t.photograph)
    t.bad("bad options", 1, "HARRAY_SIM", t.photograph, environment={"HARRAY_SIM": "nosuch=1"})


def test_full_device(t):
    """The device has no room, sooner or later: a message, or the whole picture. Alpha is there, too."""
    pixels = noise(64, 64, 4, 8, 9)
    file = t.make("full.png", png_bytes(pixels, RGBA, 8))
    fast = ["--sigma=0.5", "--passes=2", file]
    t.good("enough room", *fast, t.path("enough.png"))
    outcomes = set()
    for kilobytes in range(4, 200, 8):
        environment = {"HARRAY_SIM": "capacity=%dK" % kilobytes}
        done = t.run(*fast, t.path("full-out.png"), environment=environment)
        outcomes.add(done.returncode)
        if done.returncode == 0:
            same = read_png(t.path("full-out.png")).pixels == read_png(t.path("enough.png")).pixels
            t.check("the picture from a small device", same, kilobytes)
            os.remove(t.path("full-out.png"))
        else:
            t.bad("full", 1, "sim:0", *fast, out="full-out.png", environment=environment)
    t.check("some fit and some do not", outcomes == {0, 1}, outcomes)


def test_layouts(t):
    """Pixels as records: the same picture, whatever their layout."""
    for name, colour, channels in (("grey", GREY, 1), ("rgb", RGB, 3), ("rgba", RGBA, 4)):
        source = random.Random(channels)
        pixels = [
            [tuple(source.randrange(256) for _ in range(channels)) for _ in range(23)]
            for _ in range(9)
        ]
        file = t.make("layout-%s.png" % name, png_bytes(pixels, colour, 8))
        planes = t.path("planes.png")
        t.good("planes, " + name, "--device=host", "--sigma=2", "--quiet", file, planes)
        for layout in ("aos", "soa", "aosoa(8)", "aosoa(16,rows)", "soa(single)", "aos@col"):
            out = t.path("records.png")
            t.good(layout, "--layout", layout, "--sigma=2", "--quiet", file, out)
            with open(planes, "rb") as one, open(out, "rb") as other:
                t.check(layout + " makes the same picture", one.read() == other.read(), name)
    t.bad("no layout", 1, "--layout nosuch: at character 0", "--layout", "nosuch", t.photograph)
    t.bad("no room for pixels", 1, "not stored", "--layout", "null", t.photograph)


def test_bad_arguments(t):
    for value in ("0", "-1", "x", "", "nan", "inf", "1001", "6x"):
        t.bad("sigma '%s'" % value, 2, "--sigma", "--sigma", value, t.photograph)
    for value in ("0", "-1", "x", "", "1.5", "101", "1e99", "nan"):
        t.bad("passes '%s'" % value, 2, "--passes", "--passes", value, t.photograph)
    t.bad("unknown option", 2, "--nosuch", "--nosuch", t.photograph)
    t.bad("unknown letter", 2, "-x", "-x", t.photograph)
    t.bad("one file", 2, "two files")
    t.bad("three files", 2, "two files", t.photograph, t.photograph)
    help_text = t.good("help", "--help")
    t.check("help", "--device" in help_text and "--sigma" in help_text, help_text)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: test_blur.py BLUR PHOTOGRAPH.png")
    with tempfile.TemporaryDirectory() as directory:
        t = Test(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), directory)
        texts, blurred = test_devices(t)
        photo = read_png(t.photograph)
        test_output(t, texts, photo)
        test_photograph(t, photo, read_png(blurred))
        test_trace(t, photo)
        test_report(t)
        for test in (
            test_halos,
            test_defaults,
            test_kinds,
            test_palette,
            test_point,
            test_constant,
            test_bad_files,
        ):
            test(t)
        for test in (
            test_profile,
            test_bad_output,
            test_full_disk,
            test_full_device,
            test_bad_devices,
            test_layouts,
            test_bad_arguments,
        ):
            test(t)
        if t.failures:
            sys.exit("test_blur: %d checks failed" % t.failures)
    print("ok")


if __name__ == "__main__":
    main()
