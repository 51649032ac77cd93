#!/usr/bin/env python3
"""Conversions of half against NumPy's, bit by bit. TAP; skipped where there is no NumPy.

usage: test_numpy.py SHARED-LIBRARY
"""
import ctypes
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

LIBRARY = ctypes.CDLL(sys.argv[1])
INTEGERS = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}
NAMES = {np.float16: "half", np.float32: "float", np.float64: "double"}
DIGITS = {np.float16: 10, np.float32: 23, np.float64: 52}


def ours(values, to):
    """The numbers converted by ha_convert_..., as an array of `to`."""
    function = LIBRARY[f"ha_convert_{NAMES[values.dtype.type]}_to_{NAMES[to]}"]
    function.restype = None
    result = np.empty(len(values), to)
    function(result.ctypes.data_as(ctypes.c_void_p), values.ctypes.data_as(ctypes.c_void_p),
             ctypes.c_size_t(len(values)))
    return result


def bits(values):
    return values.view(INTEGERS[values.dtype.type])


def upper(values, digits):
    """The upper digits of payloads, but for the first, which says that a NaN is quiet."""
    return bits(values) >> (DIGITS[values.dtype.type] - digits) & ((1 << (digits - 1)) - 1)


def different(values, to):
    """Which numbers NumPy converts to others. NaNs need only have the same sign and the same upper
    payload: NumPy may let a NaN go on signalling, and may change a payload that would become 0."""
    got = ours(values, to)
    with np.errstate(all="ignore"):
        expected = values.astype(to)
    nan = np.isnan(values)
    wrong = ~nan & (bits(got) != bits(expected))
    wrong |= nan != np.isnan(got)
    digits = min(DIGITS[values.dtype.type], DIGITS[to])
    kept = nan & (upper(values, digits) != 0)
    wrong |= nan & (np.signbit(got) != np.signbit(values))
    wrong |= kept & (upper(got, digits) != upper(values, digits))
    wrong |= kept & (upper(got, digits) != upper(expected, digits))
    return np.flatnonzero(wrong)


def halves():
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def hard(dtype, count):
    """All halves, the middles between them, what is next to these; and random bits."""
    random = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        values = np.sort(np.abs(halves()[np.isfinite(halves())]).astype(np.float64))
        middles = (values[1:] + values[:-1]) / 2
        exact = np.concatenate([values, middles, [65520, 65536, 1e300]]).astype(dtype)
    around = [exact, np.nextafter(exact, dtype(np.inf)), np.nextafter(exact, dtype(-np.inf))]
    some = random.integers(0, 1 << 64, count, dtype=np.uint64)
    some >>= np.uint64(64 - 8 * dtype().itemsize)
    in_range = random.normal(size=count).astype(dtype) * dtype(1e-4)
    both = np.concatenate(around + [some.astype(INTEGERS[dtype]).view(dtype), in_range])
    return np.concatenate([both, -both])


CASES = [(halves(), np.float32), (halves(), np.float64),
         (hard(np.float32, 1 << 20), np.float16), (hard(np.float64, 1 << 20), np.float16)]


def main():
    failed = 0
    for number, (values, to) in enumerate(CASES, 1):
        wrong = different(values, to)
        name = f"{NAMES[values.dtype.type]} to {NAMES[to]}, {len(values)} numbers"
        print(f"{'not ok' if len(wrong) else 'ok'} {number} - {name}")
        for i in wrong[:5]:
            print(f"# {bits(values)[i]:#x}: {bits(ours(values[i:i + 1], to))[0]:#x}, "
                  f"not {bits(values[i:i + 1].astype(to))[0]:#x}")
        failed += len(wrong) > 0
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
