"""Making arrays, asking them, views, single elements."""
import ctypes
import shutil

import numpy as np
import pytest

import harray as ha

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_numpys(dtype):
    x = ha.zeros((2, 3), dtype, name="x")
    assert x.dtype == dtype and np.asarray(x).dtype == np.dtype(dtype) == np.dtype(x.dtype)
    assert ha.zeros(1, np.dtype(dtype)).dtype == dtype
    assert ha.zeros(1, getattr(np, dtype if dtype != "bool" else "bool_")).dtype == dtype
    assert ha.zeros(1, np.dtype(dtype).str).dtype == dtype
    assert x.itemsize == np.dtype(dtype).itemsize and x.nbytes == 6 * x.itemsize
    x[...] = 1
    assert np.asarray(x).sum() == 6 and x[1, 2] == 1


def test_names_of_python_and_c():
    assert [ha.zeros(1, d).dtype for d in (float, int, complex, bool, "f8", "double", "float", "half", "bfloat16")] == [
        "float64", "int64", "complex128", "bool", "float64", "float64", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype, words", [(">f8", "other order.*astype"), ("O", "no such elements"),
                                          ("datetime64[s]", "no such elements"), (np.dtype("M8[s]"), "M8"),
                                          (3, "no dtype|__name__"), ("", "no such elements")])
def test_other_dtypes_are_refused(dtype, words):
    with pytest.raises((TypeError, AttributeError), match=words):
        ha.zeros(3, dtype)


@pytest.mark.parametrize("shape, error", [(-1, ValueError), ((2, -3), ValueError), ((1,) * 9, ValueError),
                                          (1 << 63, ValueError), ((1 << 40, 1 << 40), ValueError), ((0, 1 << 62, 1 << 62), ValueError),
                                          ("ab", TypeError), (2.5, TypeError), ((1.5,), TypeError)])
def test_wrong_shapes(shape, error):
    with pytest.raises(error):
        ha.zeros(shape)


def test_attributes():
    x = ha.empty((3, 4), "f4", order="F", name="field")
    assert (x.shape, x.strides, x.ndim, x.size, x.order, x.name) == ((3, 4), (4, 12), 2, 12, "F", "field")
    assert x.T.order == "C" and x[::2].order is None and x.T.id == x.id != ha.empty(1).id
    version = x.version
    x[...] = 0
    assert x.version > version and len(x) == 3
    x.name = "other"
    assert x[1:].name == "other" and "'other'" in repr(x) and "float32 (3, 4)" in repr(x)
    with pytest.raises(TypeError, match="name"):
        x.name = 3
    with pytest.raises(ValueError, match="order"):
        ha.empty(3, order="K")
    with pytest.raises(TypeError, match="len"):
        len(ha.empty(()))


def test_repr_moves_nothing():
    x = ha.zeros(1000, name="x")
    with x.write("sim:0"):
        pass
    before = x.statistics
    assert "'sim:0': 'dirty'" in repr(x)
    assert x.statistics == before and str(x[:2]) == "[0.0, 0.0]"


def test_full_and_lists():
    assert ha.full((2, 2), 3).dtype == "int64" and ha.full(2, 2.5).tolist() == [2.5, 2.5]
    assert ha.full(2, 1 + 2j).dtype == "complex128" and ha.full(2, True).dtype == "bool"
    assert ha.full(2, 7, "u1").tolist() == [7, 7]
    with pytest.raises(ValueError, match="300"):
        ha.full(2, 300, "u1")
    for values in ([[1, 2], [3, 4]], [True, False], [1, 2.5], [[[1j]]], [], [[], []], 5, 2 ** 63, [np.float32(1.5)]):
        assert ha.array(values).tolist() == np.array(values).tolist()
    assert ha.array([1, 2], "f4").dtype == "float32"
    for wrong in ([[1, 2], [3]], [[1], 2], [1, [2]], [[1, 2], 3]):
        with pytest.raises(ValueError, match="one length"):
            ha.array(wrong)
    with pytest.raises(TypeError, match="no number"):
        ha.array(["a"])
    with pytest.raises(ValueError):
        ha.array([300], "i1")


def test_array_copies_unless_told():
    a = np.arange(6.0).reshape(2, 3)
    x, y = ha.array(a), ha.array(a, copy=None)
    a[0, 0] = 9
    assert x[0, 0] == 0 and y[0, 0] == 9
    assert ha.array(a.T, "f4").tolist() == a.T.tolist()
    with pytest.raises(ValueError, match="copy"):
        ha.array([1], copy=False)
    with pytest.raises(ValueError, match="copy"):
        ha.array(a.astype("f4"), "f8", copy=False)


KEYS = [np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1:], np.s_[::2], np.s_[::-1], np.s_[:, 1], np.s_[..., 0],
        np.s_[0, ...], np.s_[None], np.s_[:, None, ::-2], np.s_[4:1:-1], np.s_[10:], np.s_[1:1], np.s_[..., None],
        np.s_[2:0:-1, 1:3, 0], np.s_[:, :, -1], np.s_[...], np.s_[-2:, 3:0:-2], np.s_[0, 0, 0], np.s_[()]]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_views_are_numpys(key):
    a = np.arange(60).reshape(3, 4, 5)
    x = ha.array(a)
    expected = a[key]
    got = x[key]
    if isinstance(expected, np.ndarray):
        assert got.shape == expected.shape and np.asarray(got).tolist() == expected.tolist()
        if got.ndim: # written through the view
            got[...] = 7
            a[key] = 7
            assert np.asarray(x).tolist() == a.tolist()
    else:
        assert got == expected and isinstance(got, int)


@pytest.mark.parametrize("key, error", [(3, IndexError), (-4, IndexError), ((0,) * 4, IndexError),
                                        ((..., ...), IndexError), ([0, 1], TypeError), (True, TypeError),
                                        (1.5, TypeError), ("a", TypeError), (np.array([True]), TypeError),
                                        (slice(None, None, 0), ValueError), (1 << 70, IndexError)])
def test_wrong_indices(key, error):
    x = ha.zeros((3, 4, 5))
    with pytest.raises(error):
        x[key] # pylint: disable=pointless-statement
    with pytest.raises(error):
        x[key] = 1


def test_other_views():
    a = np.arange(24).reshape(2, 3, 4)
    x = ha.array(a)
    for got, expected in [(x.T, a.T), (x.transpose(1, 0, 2), a.transpose(1, 0, 2)), (x.transpose(), a.T),
                          (x.transpose((2, 0, 1)), a.transpose(2, 0, 1)), (x.transpose(-1, 0, 1), a.transpose(-1, 0, 1)),
                          (x.reshape(6, 4), a.reshape(6, 4)), (x.reshape((-1, 2)), a.reshape(-1, 2)),
                          (x.reshape(-1), a.reshape(-1)), (x.T.reshape(-1, order="F"), a.T.reshape(-1, order="F")),
                          (x.broadcast_to((5, 2, 3, 4)), np.broadcast_to(a, (5, 2, 3, 4))),
                          (x.flip(1), np.flip(a, 1)), (x.flip(-1), np.flip(a, -1)),
                          (x.diagonal(), a.diagonal()), (x.diagonal(1, 1, 2), a.diagonal(1, 1, 2))]:
        assert got.shape == expected.shape and np.asarray(got).tolist() == expected.tolist()
    for wrong in (lambda: x.T.reshape(-1), lambda: x.reshape(5, 5), lambda: x.reshape(-1, -1), lambda: x.reshape(-1, 5),
                  lambda: x.transpose(0, 1), lambda: x.transpose(0, 0, 1), lambda: x.transpose(0, 1, 3), lambda: x.flip(3),
                  lambda: x.broadcast_to((4, 4)), lambda: x.diagonal(0, 1, 1), lambda: x.diagonal(axis1=5)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        x.reshape(24, order="K")


def test_writing_elements_and_views():
    x, a = ha.zeros((3, 4), "i4", name="x"), np.zeros((3, 4), "i4")
    for key, value in [(np.s_[1, 2], 5), (np.s_[0], [1, 2, 3, 4]), (np.s_[:, 1], 9), (np.s_[1:, ::2], [[7], [8]]),
                       (np.s_[2], np.arange(4, dtype="i4")), (np.s_[..., 3], np.int16(6)), (np.s_[1, 1], True)]:
        x[key] = value
        a[key] = value
        assert np.asarray(x).tolist() == a.tolist()
    x[0] = x[1] # of itself
    assert x[0].tolist() == x[1].tolist()
    for key, value, error in [(0, [1, 2], ValueError), ((0, 0), "a", TypeError), (0, 1 << 40, ValueError),
                              (np.s_[:], 1j, ValueError), (0, object(), TypeError)]:
        with pytest.raises(error):
            x[key] = value
    with pytest.raises(TypeError, match="deleted"):
        del x[0]


def test_no_arithmetic():
    x = ha.zeros(3)
    for operation in (lambda: x + 1, lambda: 1 + x, lambda: x * x, lambda: -x, lambda: x @ x, lambda: x ** 2, lambda: 2 / x):
        with pytest.raises(TypeError, match="numpy.*harray.ops"):
            operation()
    assert bool(ha.full((), 3)) and not bool(ha.zeros(1))
    with pytest.raises(ValueError, match="one element"):
        bool(x)
    assert ha.full((1, 1), 2.5).item() == 2.5


def test_copies():
    x = ha.array([[1.0, 2.0]], name="x")
    y = x.copy()
    y[0, 0] = 5
    assert x[0, 0] == 1 and x.astype("i2").tolist() == [[1, 2]] and ha.equal(x, x.astype("f4")) and not ha.equal(x, y)


def test_npy_files(tmp_path):
    x = ha.array(np.arange(6).reshape(2, 3))
    ha.save(tmp_path / "x.npy", x.T)
    assert np.load(tmp_path / "x.npy").tolist() == x.T.tolist()
    assert ha.load(str(tmp_path / "x.npy"), name="y").tolist() == x.T.tolist()
    with pytest.raises(LookupError, match="none.npy"):
        ha.load(tmp_path / "none.npy")


def test_contexts():
    assert ha.host.name == "host" and ha.context("sim") == ha.context("sim:0") != ha.host
    assert len({ha.context("sim:0"), ha.context("sim"), ha.host}) == 2
    assert ha.context("sim:0") in ha.devices() and ha.best().kind in ("host", "cuda", "opencl")
    assert repr(ha.host) == "<harray.Context host>" and ha.host.number == 0 and ha.host.stream == 0
    fork = ha.context("sim:0").fork()
    fork.finish()
    fork.unfork()
    for wrong, error in [("gpu:0", LookupError), ("sim:99", LookupError), (3, TypeError), ("sim:x", ValueError)]:
        with pytest.raises(error):
            ha.zeros(3).read(wrong)
    with pytest.raises(TypeError):
        ha.Context()
    with pytest.raises(NotImplementedError):
        ha.adopt("sim:0", 5)


@pytest.mark.parametrize("dtype, value", [("u1", 53), ("i2", -7), ("f4", 2.5), ("f8", -0.25), ("bool", True)])
def test_numbers_of_one_element(dtype, value):
    """Without functions of their own Python would take the bytes of one for text: 53 is "5"."""
    for x in (ha.array([value], dtype), ha.full((), value, dtype)):
        assert int(x) == int(value) and float(x) == value and complex(float(x)) == value
        assert type(int(x)) is int and type(float(x)) is float


def test_several_elements_are_no_number():
    for convert in int, float, bool:
        with pytest.raises(ValueError, match="one element"):
            convert(ha.zeros(2))
        with pytest.raises(RuntimeError, match="never written|without values"):
            convert(ha.empty(1))
    with pytest.raises(TypeError):
        float(ha.full((), 1j))
    with pytest.raises(TypeError):
        range(ha.full((), 3)) # no index


def test_addresses_of_another_copy(tmp_path):
    path = shutil.copy(ha.get_library(), tmp_path / "libother.so")
    other = ctypes.CDLL(path)
    new, mark = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_SetContext
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    mark.argtypes = [ctypes.py_object, ctypes.c_void_p]
    capsule = new(ctypes.addressof(ctypes.c_int()), b"harray.darray", None)
    mark(capsule, ctypes.cast(other.ha_host, ctypes.c_void_p))
    with pytest.raises(BufferError, match="libother.so; this is .*libharray.so"):
        ha.Array.from_address(capsule)


def test_addresses():
    x = ha.zeros(3, name="x")
    y = ha.Array.from_address(x.address)
    y[0] = 1
    assert x[0] == 1 and y.name == "x"
    with pytest.raises(TypeError):
        ha.Array.from_address(3)
    assert ha.by_id(x.id).tolist() == [1, 0, 0] and ha.by_id(1 << 60) is None
