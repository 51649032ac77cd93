"""Operations, with NumPy as what is right."""
import numpy as np
import pytest

import harray as ha

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


def test_names():
    assert all(callable(getattr(ha.ops, name)) and getattr(ha.ops, name).__doc__ for name in ha.ops.__all__)
