"""Operations on arrays, where their values are or where they are told: harray_ops.h of C.

    harray.ops.add(x, y, out=z, on=gpu)     # z = x + y
    r = harray.ops.sum(x)
"""
from . import _harray

_MAPS = ("negative square abs sign conjugate reciprocal sqrt cbrt exp expm1 log log1p sin cos tan asin acos atan sinh "
         "cosh tanh erf floor ceil round trunc real imag angle isnan isfinite").split()
_COMBINES = ("add subtract multiply divide subtract_from divide_into minimum maximum abs_maximum abs_difference "
             "remainder power atan2 hypot copysign complex equal not_equal less less_equal greater "
             "greater_equal").split()
_REDUCTIONS = "sum prod min max bitwise_and bitwise_or bitwise_xor sum_exact argmin argmax".split()
_PARTS = {"complex64": "float32", "complex128": "float64"}
_REAL = ("abs", "real", "imag", "angle")
_NORMS = {1: 768, 2: 769, "max": 770}


def _result(name, x):
    if name in _COMBINES[16:] or name in ("isnan", "isfinite"):
        return "bool"
    if name == "complex":
        return "complex128" if x.dtype == "float64" else "complex64"
    return _PARTS.get(x.dtype, x.dtype) if name in _REAL else x.dtype


def _target(name, x, out, on):
    return _harray.empty(x.shape, _result(name, x), ctx=on) if out is None else out


def _make_map(number, name):
    def operation(x, out=None, *, on=None):
        out = _target(name, x, out, on)
        _harray._map(number, out, x, on)
        return out
    operation.__doc__ = f"{name} of each element: into out, or a new array."
    return operation


def _make_combine(number, name):
    def operation(x, y, out=None, *, on=None):
        out = _target(name, x, out, on)
        _harray._combine(number, out, x, y, on)
        return out
    operation.__doc__ = f"{name} of x and y, an array or a number, element by element: into out, or a new array."
    return operation


def _make_reduction(number, name):
    def operation(x, *, on=None):
        return _harray._reduce(number, x, on)
    operation.__doc__ = f"{name} of all elements, as a number."
    return operation


def _define(name, function):
    function.__name__ = function.__qualname__ = name
    globals()[name] = function


for _number, _name in enumerate(_MAPS, 512):
    _define(_name, _make_map(_number, _name))
for _number, _name in enumerate(_COMBINES, 1):
    _define(_name, _make_combine(_number, _name))
for _number, _name in enumerate(_REDUCTIONS, 256):
    _define(_name, _make_reduction(_number, _name))


def axpby(a, x, b, y, out=None, *, on=None):
    """a x + b y: into out, or a new array."""
    out = _target("add", x, out, on)
    _harray._axpby(out, a, x, b, y, on)
    return out


def clip(x, low, high, out=None, *, on=None):
    """x, but low where it is less, and high where it is greater."""
    out = _target("add", x, out, on)
    _harray._clip(out, x, low, high, on)
    return out


def where(mask, x, y, out=None, *, on=None):
    """x where the mask is not 0, and y elsewhere."""
    out = _target("add", x, out, on)
    _harray._where(out, mask, x, y, on)
    return out


def sequence(out, first=0, step=1, *, on=None):
    """out = first, first + step, ..., in the order of its indices."""
    _harray._sequence(out, first, step, on)
    return out


def random(out, seed, *, on=None):
    """Random numbers of [0, 1), the same ones everywhere for the same seed."""
    _harray._random(out, seed, False, on)
    return out


def random_normal(out, seed, *, on=None):
    """Random numbers of mean 0 and deviation 1."""
    _harray._random(out, seed, True, on)
    return out


def count_nonzero(x, *, on=None):
    """How many elements are not 0."""
    return _harray._count(x, on)


def dot(x, y, *, on=None):
    """The sum of conj(x) y."""
    return _harray._dot(x, y, on)


def norm(x, y=None, *, ord=2, on=None): # pylint: disable=redefined-builtin
    """The norm of x, or of x - y: ord is 1, 2 or "max"."""
    if ord not in _NORMS:
        raise ValueError(f"norm: ord is 1, 2 or \"max\", not {ord!r}")
    return _harray._norm(_NORMS[ord], x, y, on)


__all__ = sorted([*_MAPS, *_COMBINES, *_REDUCTIONS, "axpby", "clip", "where", "sequence", "random", "random_normal",
                  "count_nonzero", "dot", "norm"])
