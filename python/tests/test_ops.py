"""Operations, with NumPy as what is right."""
import cmath
import math
import pathlib
import re

import numpy as np
import pytest

import harray as ha
from harray import _harray

SAME = {"negative": np.negative, "square": np.square, "abs": np.abs, "sign": np.sign, "reciprocal": np.reciprocal,
        "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin,
        "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
        "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "isnan": np.isnan, "isfinite": np.isfinite}
OF_TWO = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "minimum": np.minimum,
          "maximum": np.maximum, "power": np.power, "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign,
          "remainder": np.fmod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
          "greater": np.greater, "greater_equal": np.greater_equal,
          "abs_maximum": lambda x, y: np.maximum(abs(x), abs(y)), "abs_difference": lambda x, y: abs(x - y),
          "subtract_from": lambda x, y: y - x, "divide_into": lambda x, y: y / x, "complex": lambda x, y: x + 1j * y}
OF_COMPLEX = {"conjugate": np.conjugate, "real": np.real, "imag": np.imag, "angle": np.angle, "abs": np.abs}
RNG = np.random.default_rng(1)
A, B = RNG.random((3, 4)), RNG.random((3, 4))


@pytest.mark.parametrize("where", ["host", "sim:0"])
@pytest.mark.parametrize("name", SAME)
def test_of_one(name, where):
    x = ha.array(A)
    got = getattr(ha.ops, name)(x, on=where)
    assert np.asarray(got).dtype == SAME[name](A).dtype
    np.testing.assert_allclose(np.asarray(got), SAME[name](A), rtol=1e-14)
    out = ha.empty((4, 3), got.dtype).T
    assert getattr(ha.ops, name)(x, out, on=where) is out
    np.testing.assert_allclose(np.asarray(out), SAME[name](A), rtol=1e-14)


@pytest.mark.parametrize("name", OF_TWO)
def test_of_two(name):
    x, y = ha.array(A), ha.array(B)
    np.testing.assert_allclose(np.asarray(getattr(ha.ops, name)(x, y)), OF_TWO[name](A, B), rtol=1e-14)
    if name != "complex":
        np.testing.assert_allclose(np.asarray(getattr(ha.ops, name)(x, 0.5, on="sim:0")), OF_TWO[name](A, 0.5), rtol=1e-14)


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_of_complex(name):
    z = A + 1j * B
    for dtype in ("complex64", "complex128"):
        got = np.asarray(getattr(ha.ops, name)(ha.array(z, dtype)))
        np.testing.assert_allclose(got, OF_COMPLEX[name](z), rtol=1e-6)
        assert got.dtype == OF_COMPLEX[name](z.astype(dtype)).dtype


def test_others():
    x, y = ha.array(A), ha.array(B)
    np.testing.assert_allclose(np.asarray(ha.ops.axpby(2, x, -1, y)), 2 * A - B, rtol=1e-14)
    np.testing.assert_array_equal(np.asarray(ha.ops.clip(x, 0.2, 0.6)), A.clip(0.2, 0.6))
    mask = ha.ops.greater(x, y)
    np.testing.assert_array_equal(np.asarray(ha.ops.where(mask, x, y)), np.maximum(A, B))
    assert ha.ops.sequence(ha.empty((2, 3), "i4"), 5, -1).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert ha.ops.random(ha.empty(100), 7).tolist() == ha.ops.random(ha.empty(100), 7, on="sim:0").tolist()
    assert abs(ha.ops.sum(ha.ops.random_normal(ha.empty(10000), 3)) / 10000) < 0.1
    assert ha.ops.round(ha.array([0.5, -1.5])).tolist() == [1, -2] and abs(ha.ops.erf(ha.array([1.0]))[0] - 0.8427) < 1e-4


def test_to_a_number():
    x, y = ha.array(A), ha.array(B)
    for got, right in ((ha.ops.sum(x), A.sum()), (ha.ops.prod(x), A.prod()), (ha.ops.min(x), A.min()), (ha.ops.max(x, on="sim:0"), A.max()),
                       (ha.ops.argmin(x), A.argmin()), (ha.ops.argmax(x), A.argmax()), (ha.ops.sum_exact(x), A.sum()),
                       (ha.ops.dot(x, y), (A * B).sum()), (ha.ops.norm(x), np.linalg.norm(A)), (ha.ops.norm(x, ord=1), A.sum()),
                       (ha.ops.norm(x, y, ord="max"), abs(A - B).max()), (ha.ops.count_nonzero(x), 12)):
        assert right == pytest.approx(got, rel=1e-14)
    i = ha.array([6, 3])
    assert (ha.ops.sum(i), ha.ops.bitwise_and(i), ha.ops.bitwise_or(i), ha.ops.bitwise_xor(i)) == (9, 2, 7, 5)
    assert ha.ops.sum(ha.array([1 + 2j, 3])) == 4 + 2j and ha.ops.sum(ha.full(2, 1 << 63, "u8")) == 0
    assert ha.ops.count_nonzero(ha.ops.less(x, 2.0)) == 12


def test_wrong_arguments():
    x = ha.zeros(3, name="x")
    for wrong, error in ((lambda: ha.ops.add(x, ha.zeros(4)), ValueError), (lambda: ha.ops.add(x, ha.zeros(3, "f4")), ValueError),
                         (lambda: ha.ops.add(x, "a"), TypeError), (lambda: ha.ops.sqrt(3), (TypeError, AttributeError)),
                         (lambda: ha.ops.sqrt(ha.zeros(3, "i4")), ValueError), (lambda: ha.ops.norm(x, ord=5), ValueError),
                         (lambda: ha.ops.min(ha.zeros(0)), ValueError), (lambda: ha.ops.sum(x, on="gpu:0"), LookupError),
                         (lambda: ha.ops.norm(x, 3), TypeError), (lambda: ha.ops.clip(x, 2, 1), ValueError),
                         (lambda: ha.ops.add(ha.empty(3, name="u"), 1), RuntimeError)):
        with pytest.raises(error):
            wrong()
    with x.read(), pytest.raises(BufferError, match="'x'"):
        ha.ops.add(x, 1, x)


def points(dtype):
    """Complex numbers on rings around 0, in all quadrants."""
    angles = np.exp(1j * (np.arange(24) + 0.3) * np.pi / 12)
    return (np.array([[1e-3], [0.4], [1.0], [3.0], [7.0]]) * angles).astype(dtype)


def expect_close(got, right):
    """As far as rounding goes: a part may be lost beside a greater one."""
    few = 100 * np.finfo(right.dtype).eps
    assert got.dtype == right.dtype and (abs(got - right) <= few * np.maximum(abs(right), np.finfo(right.dtype).tiny)).all()


FUNCTIONS_OF_COMPLEX = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")


@pytest.mark.parametrize("where", ["host", "sim:0"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*FUNCTIONS_OF_COMPLEX, "reciprocal", "square", "negative"])
def test_functions_of_complex(name, dtype, where):
    z = points(dtype)
    right = getattr(np, name)(z.astype("complex128")).astype(dtype)
    expect_close(np.asarray(getattr(ha.ops, name)(ha.array(z), on=where)), right)


@pytest.mark.parametrize("where", ["host", "sim:0"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_powers(dtype, where):
    z = points(dtype)
    w = (z[::-1, ::-1] * 0.4).astype(dtype)
    def right(x, y):
        return np.power(x, y, dtype="complex128").astype(dtype)
    expect_close(np.asarray(ha.ops.power(ha.array(z), ha.array(w), on=where)), right(z, w))
    for number in (2, 0.5, -1.5 + 0.5j, 0):
        expect_close(np.asarray(ha.ops.power(ha.array(z), number, on=where)), right(z, np.full_like(z, number)))
    assert ha.ops.power(ha.array([0j, 0j, 2]), ha.array([2 + 1j, 0, 0]), on=where).tolist() == [0, 1, 1]


@pytest.mark.parametrize("name", FUNCTIONS_OF_COMPLEX)
def test_branch_cuts_and_axes(name):
    """As cmath has them, which is C's. On a cut the sign of a zero says from which side: of roots and logarithms it is the one that
    comes out, too."""
    values = [complex(re, im) for re in (-2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5) for im in (-0.0, 0.0)]
    values += [complex(z.imag, z.real) for z in values]
    values = [z for z in values if z != 0 or name != "log"] # which cmath refuses
    for got, z in zip(getattr(ha.ops, name)(ha.array(values)).tolist(), values):
        right = getattr(cmath, name)(z)
        assert cmath.isclose(got, right, rel_tol=1e-14, abs_tol=1e-300), (z, got, right)
        for part, expected in ((got.real, right.real), (got.imag, right.imag)) if name in ("sqrt", "log") else ():
            assert math.copysign(1, part) == math.copysign(1, expected), (z, got, right)
    if name == "log":
        assert ha.ops.log(ha.array([0j])).tolist() == [complex(-math.inf, 0)]


def enumerators(header, name, **known):
    """Of an enumeration in a header of the package: names with their numbers, in that order. `known`: those of others."""
    text = pathlib.Path(ha.get_include(), header).read_text("utf-8")
    body = re.search(r"typedef enum %s \{(.*?)\} %s;" % (name, name), re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.S).group(1)
    found = {}
    for item in body.split(","):
        enumerator, _, value = (part.strip() for part in item.partition("="))
        if enumerator:
            following = max(found.values(), default=-1) + 1 # as each enumeration here ascends
            found[enumerator] = eval(value, {}, {**known, **found}) if value else following # pylint: disable=eval-used
    return found


OTHER_NAMES = {"negate": "negative", "real_part": "real", "imaginary_part": "imag", "argument": "angle", "is_nan": "isnan", "is_finite": "isfinite",
               "modulo": "remainder", "is_equal": "equal", "is_not_equal": "not_equal", "is_less": "less", "is_less_equal": "less_equal",
               "is_greater": "greater", "is_greater_equal": "greater_equal", "product": "prod", "and": "bitwise_and", "or": "bitwise_or",
               "xor": "bitwise_xor", "min_at": "argmin", "max_at": "argmax"}
WITHOUT_NUMBERS = {"axpby", "clip", "where", "sequence", "random", "random_normal", "count_nonzero", "dot", "norm"}


def python_name(name):
    own = name.removeprefix("HA_").lower()
    return OTHER_NAMES.get(own, own)


def test_numbers_are_those_of_c(monkeypatch):
    """Each function passes the number that the header has for what it is called there, and there is a function for each."""
    if not pathlib.Path(ha.get_include(), "harray.h").exists():
        pytest.skip("the package is not installed")
    passed = []
    for name in ("_map", "_combine", "_reduce", "_norm"):
        monkeypatch.setattr(_harray, name, lambda number, *_, kind=name: passed.append((kind, number)))
    def number_of(function, *arguments, **more):
        passed.clear()
        function(*arguments, **more)
        return passed.copy()
    x = ha.zeros(3)
    operators = enumerators("layout/arithmetic.h", "ha_operator")
    maps, combines = enumerators("harray/ops.h", "ha_map_operation"), enumerators("harray/ops.h", "ha_combine_operation", **operators)
    reductions, norms = enumerators("harray/reduce.h", "ha_reduction"), enumerators("harray/ops.h", "ha_norm_kind")
    first = maps["HA_NEGATE"]
    assert (operators.pop("HA_ASSIGN"), maps.pop("HA_MAPS_"), combines.pop("HA_COMBINES_")) == (0, first + len(maps), len(operators) + 1 + len(combines))
    combines.update(operators)
    for kind, names, arguments in (("_map", maps, (x, x)), ("_combine", combines, (x, x, x)), ("_reduce", reductions, (x,))):
        for name, number in names.items():
            assert number_of(getattr(ha.ops, python_name(name)), *arguments) == [(kind, number)], name
    for order, name in ((1, "HA_NORM_1"), (2, "HA_NORM_2"), ("max", "HA_NORM_MAX")):
        assert number_of(ha.ops.norm, x, ord=order) == [("_norm", norms.pop(name))]
    assert {python_name(name) for name in (*maps, *combines, *reductions)} == set(ha.ops.__all__) - WITHOUT_NUMBERS and not norms


def test_names():
    assert all(callable(getattr(ha.ops, name)) and getattr(ha.ops, name).__doc__ for name in ha.ops.__all__)


def test_words_of_other_functions():
    """A number of another function computes nothing, and the error names the word that is meant."""
    x, z = ha.array([1., 2.]), ha.array([5., 6.])
    for function, word, arguments, why in ((_harray._combine, 259, (z, x, x), "HA_MAX is a reduction; of two arguments it is HA_MAXIMUM"),
                                           (_harray._map, 1, (z, x), "HA_ADD is of two arguments: ha_combine"),
                                           (_harray._reduce, 1, (x,), "HA_ADD is of two arguments; as a reduction it is HA_SUM"),
                                           (_harray._norm, 0, (x, None), "norm 0 is none of ha_norm's: HA_NORM_1")):
        with pytest.raises(ValueError, match=why):
            function(word, *arguments, None)
    with pytest.raises(ValueError, match="ord is 1, 2 or"):
        ha.ops.norm(x, ord="maximum")
    assert ha.ops.max(z) == 6 and ha.ops.min(z) == 5
