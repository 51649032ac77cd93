"""DLPack both ways, and memory of others as arrays."""
import array
import ctypes
import gc
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import harray as ha


class Exporter: # pylint: disable=too-few-public-methods
    """An object with nothing but what it is given."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Older:
    """A package whose __dlpack__ knows no version."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64", "complex128"])
def test_dlpack_both_ways(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    for given in (a, a.T, a[:, ::-1], a[::2]):
        x = ha.from_dlpack(given)
        assert x.dtype == dtype and x.tolist() == given.tolist()
        assert np.from_dlpack(x).tolist() == given.tolist()
        assert np.shares_memory(np.from_dlpack(x), given)
        del x # memory is wrapped once at a time


def test_versions_of_dlpack():
    x = ha.array([1.0, 2.0], name="x")
    for version in (None, (0, 8)):
        with pytest.raises(BufferError, match=r"'x'.*x\.write\(ctx\)"):
            x.__dlpack__(max_version=version)
    for version in ((1, 0), (1, 3), (2, 0)):
        assert "dltensor_versioned" in repr(x.__dlpack__(max_version=version))
    assert '"dltensor"' in repr(x.__dlpack__(copy=True))
    with x.write() as v:
        assert '"dltensor"' in repr(v.__dlpack__()) and '"dltensor_versioned"' in repr(v.__dlpack__(max_version=(1, 0)))
        a = np.from_dlpack(v)
        a[0] = 5
        del a
    assert x[0] == 5
    y = ha.from_dlpack(Older(np.arange(3)))
    assert y.tolist() == [0, 1, 2]


def test_what_dlpack_asks_for():
    x = ha.array([1.0, 2.0], name="x")
    assert x.__dlpack_device__() == (1, 0)
    for stream in (None, -1, 0, 1, 2, 77): # the host has none: whichever is named, the values are there
        with x.write("sim:0"):
            pass
        given = Exporter(__dlpack_device__=lambda: (1, 0), __dlpack__=lambda stream=stream, **how: x.__dlpack__(**{**how, "stream": stream}))
        a = np.from_dlpack(given)
        assert a.tolist() == [1, 2] and [e["kind"] for e in ha.exports()] == ["DLPack"]
        del a
    a = np.from_dlpack(x, copy=True)
    a[0] = 9
    assert x[0] == 1
    assert np.from_dlpack(x, copy=False).tolist() == [1, 2]
    with pytest.raises(BufferError, match="'x'.*device that is asked for"):
        x.__dlpack__(dl_device=(2, 0), max_version=(1, 0))
    with x.read("sim:0") as v:
        for ask in (v.__dlpack_device__, lambda: v.__dlpack__(max_version=(1, 0))):
            with pytest.raises(NotImplementedError, match="sim"):
                ask()
    with x.write("sim:0"):
        pass
    assert np.from_dlpack(x).tolist() == [1, 2] # its values are brought to the host
    with x.write() as v, pytest.raises(BufferError, match="'x'.*copy"):
        v.__dlpack__(copy=True, max_version=(1, 0))
    with x.read() as v:
        assert np.from_dlpack(v, copy=True).flags.writeable and not np.from_dlpack(v).flags.writeable


def test_a_tensor_keeps_the_access():
    x = ha.zeros(3, name="x")
    capsule = x.__dlpack__(max_version=(1, 0))
    with pytest.raises(BufferError, match="exported: DLPack at test_exchange.py"):
        x.write()
    del capsule # never taken
    x.write().close()
    a = np.from_dlpack(x)
    del x
    gc.collect()
    assert a.tolist() == [0, 0, 0]


def test_a_deleter_on_a_thread_of_cs():
    x = ha.zeros(3, name="x")
    capsule = x.__dlpack__(max_version=(1, 0))
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    used = b"used_dltensor_versioned"
    address = pointer(capsule, b"dltensor_versioned")
    rename(capsule, used)
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(address + 16).value)
    thread = threading.Thread(target=deleter, args=(address,)) # ctypes calls it without the GIL
    thread.start()
    thread.join()
    x.write().close()


def test_from_dlpack_copies_and_moves():
    a = np.arange(3.0)
    x, y = ha.from_dlpack(a), ha.from_dlpack(np.arange(3.0), copy=True)
    a[0] = 7
    assert x[0] == 7 and y[0] == 0
    z = ha.from_dlpack(np.arange(3.0), device="sim:0")
    assert z.residency["sim:0"] in ("clean", "dirty")
    with pytest.raises(ValueError, match="copy"):
        ha.from_dlpack(a, device="sim:0", copy=False)
    for wrong, error in ((3, AttributeError), (Exporter(__dlpack_device__=lambda: (77, 0)), (AttributeError, NotImplementedError, LookupError)),
                         (Exporter(__dlpack_device__=lambda: (1, 0), __dlpack__=lambda **_: 5), TypeError)):
        with pytest.raises(error):
            ha.from_dlpack(wrong)


def test_what_was_taken_is_given_back():
    a = np.arange(3.0)
    before, gone = sys.getrefcount(a), weakref.ref(a)
    x = ha.from_dlpack(a)
    y = x[1:]
    del x
    assert sys.getrefcount(a) > before
    del y
    gc.collect()
    assert sys.getrefcount(a) == before
    x = ha.wrap(a)
    y = x[::2]
    del x, a
    gc.collect()
    assert gone() is not None and y.tolist() == [0, 2]
    del y
    gc.collect()
    assert gone() is None


def test_wrapped_memory_is_the_array():
    a = np.zeros((3, 4))
    x = ha.wrap(a, name="a")
    ha.ops.add(x, 2.0, x, on="sim:0")
    assert a[0, 0] == 0 and x.residency == {"host": "stale", "sim:0": "dirty"}
    x.sync()
    assert a[2, 3] == 2
    ha.ops.add(x, 2.0, x, on="sim:0")
    del x # brings the values back
    assert (a == 4).all()


@pytest.mark.parametrize("make", [
    lambda: bytearray(8), lambda: array.array("i", [1, 2]), lambda: memoryview(bytearray(8)).cast("d"),
    lambda: np.arange(12).reshape(3, 4)[::-1, ::2], lambda: np.asfortranarray(np.ones((2, 3))), lambda: np.array(5.0),
    lambda: np.zeros((0, 3)), lambda: np.array([True, False]), lambda: np.ones(3, "c16")], ids=range(9))
def test_what_can_be_wrapped(make):
    obj = make()
    x = ha.wrap(obj)
    assert x.tolist() == np.asarray(obj).tolist()
    x[...] = 0
    assert not np.asarray(obj).any()


def test_what_is_read_only_stays_so():
    for obj in (b"12345678", np.broadcast_to(np.arange(3), (3,))):
        x = ha.wrap(obj, name="fixed")
        assert x.tolist() == np.frombuffer(obj, "u1").tolist() if isinstance(obj, bytes) else True
        with pytest.raises(RuntimeError, match="'fixed'"):
            x.write()
        with pytest.raises(RuntimeError, match="'fixed'"):
            x[0] = 1
        assert not np.asarray(x).flags.writeable


@pytest.mark.parametrize("make, error, words", [
    (lambda: 3, TypeError, "no memory to wrap"), (lambda: np.zeros(3, ">f8"), TypeError, "other order"),
    (lambda: np.zeros(3, "M8[s]"), (TypeError, NotImplementedError, ValueError), "."), (lambda: np.zeros(3, "O"), TypeError, "no such type"),
    (lambda: np.zeros(3, "i4,f8"), TypeError, "no such type"), (lambda: np.broadcast_to(np.zeros(1), (5,)), ValueError, "."),
    (lambda: np.zeros(3, "i4,f8")["f1"], (ValueError, TypeError), "stride"),
    (lambda: [1, 2], TypeError, "no memory")], ids=range(8))
def test_what_cannot_be_wrapped(make, error, words):
    with pytest.raises(error, match=words):
        ha.wrap(make())


def test_memory_is_wrapped_once():
    a = np.zeros(3)
    x = ha.wrap(a)
    with pytest.raises(RuntimeError):
        ha.wrap(a)
    assert ha.array(a).tolist() == x.tolist() == [0, 0, 0] # a copy may be had


def test_who_has_dlpack_copies_what_is_wrapped():
    class Producer: # pylint: disable=too-few-public-methods
        """NumPy's memory by DLPack alone."""
        __dlpack_device__ = staticmethod(lambda: (1, 0))

        def __init__(self):
            self.values, self.asked = np.arange(3.0), []

        def __dlpack__(self, **how):
            self.asked.append(how.get("copy"))
            return self.values.__dlpack__(**how)
    a = Producer()
    x = ha.wrap(a)
    for copied in (lambda: ha.array(a), lambda: ha.from_dlpack(a, copy=True), lambda: ha.from_dlpack(a, device="sim:0")):
        a.asked.clear()
        assert copied().tolist() == [0, 1, 2] and a.asked == [None, True]
    for shared in (lambda: ha.wrap(a), lambda: ha.from_dlpack(a), lambda: ha.array(a, copy=None)):
        with pytest.raises(RuntimeError, match="owns some"):
            shared()
    older = Older(a.values)
    for copied in (lambda: ha.array(older), lambda: ha.from_dlpack(older, copy=True)):
        with pytest.raises(RuntimeError, match="owns some"):
            copied()
    assert x.tolist() == [0, 1, 2]


def interface(**changes):
    values = np.arange(6.0)
    told = {"shape": (2, 3), "typestr": "<f8", "data": (values.ctypes.data, False), "strides": None, "version": 3}
    told.update(changes)
    return Exporter(__array_interface__={k: v for k, v in told.items() if v != "left out"}, values=values)


def test_an_interface_is_wrapped():
    given = interface()
    x = ha.wrap(given)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and sys.getrefcount(given) == 3
    x[0, 0] = 7
    assert given.values[0] == 7
    del x
    assert sys.getrefcount(given) == 2
    assert ha.wrap(interface(strides=(8, 16))).tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(RuntimeError):
        ha.wrap(interface(data=(given.values.ctypes.data, True))).write()


@pytest.mark.parametrize("changes, words", [
    ({"shape": "left out"}, "'shape'.*missing"), ({"typestr": "left out"}, "'typestr'.*missing"), ({"data": "left out"}, "'data'"),
    ({"version": "left out"}, "'version'"), ({"shape": (-2, 3)}, "'shape'.*negative"),
    ({"shape": (1 << 40, 1 << 40)}, "'shape'.*more elements"), ({"shape": (1 << 62,)}, "'shape'.*more elements"), ({"shape": (1,) * 9}, "'shape'.*8"),
    ({"shape": 3}, "'shape'.*tuple"), ({"shape": (2.5,)}, "'shape'"), ({"data": 5}, "'data'"), ({"data": (1, 2, 3)}, "'data'"),
    ({"data": ("a", False)}, "'data'"), ({"strides": (8,)}, "'strides'"), ({"strides": (4, 12)}, "stride|multiple"),
    ({"typestr": 5}, "'typestr'"), ({"typestr": "a very long one"}, "'typestr'"), ({"data": (1, False)}, "align"),
    ({"data": (0, False)}, "NULL")])
def test_wrong_interfaces(changes, words):
    with pytest.raises(ValueError, match=words):
        ha.wrap(interface(**changes))


@pytest.mark.parametrize("changes, words", [({"typestr": ">f8"}, "typestr.*other order"), ({"typestr": "|O8"}, "typestr"),
                                            ({"typestr": "zz"}, "typestr"), ({"version": 77}, "version")])
def test_interfaces_of_other_kinds(changes, words):
    with pytest.raises(ValueError, match=words):
        ha.wrap(interface(**changes))


class Refusing:
    """As JAX's arrays of bfloat16, or on a GPU: no buffer, but DLPack."""

    def __init__(self, error):
        self.error, self.values = error, np.arange(3.0)

    def __buffer__(self, flags):
        raise self.error("no buffer")

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have no buffers before Python 3.12")
def test_who_refuses_a_buffer_has_dlpack():
    for take in (ha.wrap, ha.array):
        assert take(Refusing(BufferError)).tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="no buffer"):
            take(Refusing(ValueError))
    with ha.zeros(3, "bfloat16", name="x").read() as v, pytest.raises(BufferError, match="bfloat16"):
        ha.wrap(v)


def test_what_jax_asks_for(monkeypatch):
    package = types.ModuleType("jax")
    package.numpy = np # which takes DLPack as well
    monkeypatch.setitem(sys.modules, "jax", package)
    x = ha.array([[1.0, 2.0], [3.0, 4.0]])
    a = x.T.__jax_array__()
    x[0, 1] = 7
    assert a.tolist() == [[1, 3], [2, 4]]
    package.numpy = None
    with pytest.raises(AttributeError, match="from_dlpack"):
        x.__jax_array__()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match="jax"):
        x.__jax_array__()


def test_names_of_pytorchs_types():
    class Type: # pylint: disable=too-few-public-methods
        def __init__(self, name):
            self.name_ = name

        def __str__(self):
            return self.name_
    assert ha.zeros(2, Type("torch.bfloat16")).dtype == "bfloat16"
    for wrong in ("torch.float8_e5m2", "float32", "torch"):
        with pytest.raises(TypeError, match="no such elements|is no dtype"):
            ha.zeros(2, Type(wrong))


def test_failing_objects_say_what_they_said():
    class Failing: # pylint: disable=too-few-public-methods
        @property
        def __array_interface__(self):
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        ha.wrap(Failing())
