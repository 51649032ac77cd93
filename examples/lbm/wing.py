#!/usr/bin/env python3
"""Writes a picture of a wing, the section NACA 2412 at 14 degrees, with nothing around it: lbm's obstacle.

usage: wing.py FILE.png

Thickness and camber are those of Jacobs, Ward and Pinkerton, NACA Report 460 (1933); thickness is measured
upright instead of across the camber, which at 2 % of camber is the same to the eye.
"""
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 320, 128
CHORD, ANGLE = 290, math.radians(14)
THICKNESS, CAMBER, CREST = 0.12, 0.02, 0.4  # of the chord
COLOUR = (60, 90, 160)
SAMPLES = 4  # of a pixel, in each direction


def is_inside(x, y):
    """Of a point from the middle of the picture, upwards, in chords."""
    u = x * math.cos(ANGLE) - y * math.sin(ANGLE) + 0.5
    v = x * math.sin(ANGLE) + y * math.cos(ANGLE)
    if not 0 <= u <= 1:
        return False
    half = 5 * THICKNESS * (0.2969 * math.sqrt(u) - 0.1260 * u - 0.3516 * u**2 + 0.2843 * u**3 - 0.1036 * u**4)
    if u < CREST:
        camber = CAMBER / CREST**2 * (2 * CREST * u - u**2)
    else:
        camber = CAMBER / (1 - CREST)**2 * (1 - 2 * CREST + 2 * CREST * u - u**2)
    return abs(v - camber) <= half


def opacity(i, j):
    steps = [(k + 0.5) / SAMPLES for k in range(SAMPLES)]
    inside = sum(is_inside((i + a - WIDTH / 2) / CHORD, (HEIGHT / 2 - j - b) / CHORD) for a in steps for b in steps)
    return inside * 255 // SAMPLES**2


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: wing.py FILE.png")
    rows = [bytes([0]) + b"".join(bytes((*COLOUR, opacity(i, j))) for i in range(WIDTH)) for j in range(HEIGHT)]
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 6, 0, 0, 0)
    with open(sys.argv[1], "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                   chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main()
