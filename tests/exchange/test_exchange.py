#!/usr/bin/env python3
"""Arrays that go to NumPy and PyTorch and come from there, by DLPack and the array interface. TAP; those
that are not there are skipped.

usage: test_exchange.py SHARED-LIBRARY
"""
import ctypes
import gc
import importlib
import sys
import threading

from exchange import (Exporter, Library, OlderExporter, Opened, OVERWRITE, READ, TYPES,
                      WRITE)

LIBRARY = Library(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
NUMPY_NAMES = {"half": "float16", "float": "float32", "double": "float64", "c64": "complex64",
               "c128": "complex128", "bool": "bool"}
ALL = -(1 << 63) # HA_ALL


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


np, torch = load("numpy"), load("torch")


def numpy_name(name):
    return NUMPY_NAMES.get(name, name.removesuffix("_t"))


def torch_type(name):
    return getattr(torch, "bfloat16" if name == "bfloat16" else numpy_name(name), None)


def refused(function, *arguments):
    """What it says."""
    try:
        function(*arguments)
    except Exception as error: # pylint: disable=broad-exception-caught
        LIBRARY.take_error()
        return str(error) or "?"
    return ""


def is_free(darray):
    """Nobody has it open: it can be opened for writing."""
    with Opened(LIBRARY, darray, WRITE):
        return True


def filled(shape=(3, 4), name="double"):
    """0, 1, 2, …, written by NumPy through the array interface, or by PyTorch through DLPack."""
    x = LIBRARY.zeros(name, shape)
    if np:
        with Opened(LIBRARY, x, OVERWRITE) as opened:
            a = np.asarray(opened.interface())
            a[...] = np.arange(a.size).astype(a.dtype).reshape(shape)
    else:
        t = torch.from_dlpack(Exporter(LIBRARY, x, OVERWRITE))
        t.copy_(torch.arange(t.numel(), dtype=t.dtype).reshape(shape))
    return x


def views(x):
    """Some of x, as 3 by 4, with what they are of a NumPy or PyTorch array."""
    turned = LIBRARY.transpose(x)
    yield x, lambda a: a
    yield turned, lambda a: a.T
    yield LIBRARY.slice(x, 1, 0, ALL, 2), lambda a: a[:, ::2]
    yield LIBRARY.slice(turned, 0, 1, 3, 1), lambda a: a.T[1:3]
    yield LIBRARY.slice(x, 0, 1, 1, 1), lambda a: a[1:1]
    yield LIBRARY.slice(x, 1, ALL, ALL, -1), lambda a: a[:, ::-1]


def version_1(case):
    """Needs a NumPy that knows DLPack 1: others only read, and do not know what is read-only."""
    case.needs_version_1 = True
    return case


# ---- NumPy --------------------------------------------------------------------------------------


@version_1
def numpy_takes_every_type():
    for name in TYPES:
        if name == "bfloat16":
            continue
        x = filled((2, 2), name)
        a = np.from_dlpack(Exporter(LIBRARY, x, READ))
        assert a.dtype == np.dtype(numpy_name(name)), name
        expected = np.arange(4).astype(a.dtype).reshape(2, 2)
        assert (a == expected).all(), name
        del a
        LIBRARY.free(x)


@version_1
def numpy_takes_views():
    x = filled()
    expected = np.arange(12.0).reshape(3, 4)
    for view, same in views(x):
        a = np.from_dlpack(Exporter(LIBRARY, view, READ))
        b = same(expected)
        assert a.shape == b.shape and (a.strides == b.strides or not b.size)
        assert (a == b).all()
        assert not a.flags.writeable or not a.size
        del a
    assert is_free(x)
    LIBRARY.free(x)


@version_1
def numpy_holds_a_lock():
    x = filled()
    a = np.from_dlpack(Exporter(LIBRARY, x, READ))
    b = a[1:, ::2] # keeps the tensor
    del a
    assert refused(is_free, x)
    assert refused(writable, x)
    assert (b == [[4, 6], [8, 10]]).all()
    del b
    assert is_free(x)
    LIBRARY.free(x)


def writable(x):
    return np.from_dlpack(Exporter(LIBRARY, x, WRITE))


@version_1
def numpy_writes():
    x = filled()
    a = writable(LIBRARY.transpose(x))
    assert a.flags.writeable
    a[3, 1] = 70
    del a
    assert np.from_dlpack(Exporter(LIBRARY, x, READ))[1, 3] == 70
    LIBRARY.free(x)


@version_1
def numpy_outlives_the_array():
    x = filled()
    a = np.from_dlpack(Exporter(LIBRARY, x, READ))
    LIBRARY.free(x)
    assert a.sum() == 66
    last = [a]
    del a
    thread = threading.Thread(target=last.clear)
    thread.start()
    thread.join()


def numpy_of_before_version_1():
    x = filled()
    a = np.from_dlpack(OlderExporter(LIBRARY, x, WRITE))
    assert (a == np.arange(12.0).reshape(3, 4)).all()
    del a
    assert "read" in refused(np.from_dlpack, OlderExporter(LIBRARY, x, READ))
    LIBRARY.free(x)


def numpy_leaves_a_capsule():
    x = filled()
    capsule = Exporter(LIBRARY, x, READ).__dlpack__(max_version=(1, 0))
    assert refused(is_free, x)
    del capsule # from which nobody took the tensor
    assert is_free(x)
    LIBRARY.free(x)


@version_1
def numpy_without_elements():
    x = LIBRARY.zeros("float", (3, 0, 2))
    a = np.from_dlpack(Exporter(LIBRARY, x, READ))
    assert a.shape == (3, 0, 2) and a.dtype == np.float32
    del a
    LIBRARY.free(x)
    x = LIBRARY.zeros("int32_t", ())
    a = np.from_dlpack(Exporter(LIBRARY, x, READ))
    assert a.shape == () and a == 0
    del a
    LIBRARY.free(x)


NEW_NUMPY = np is not None and tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)
NUMPY_OPTIONS = {"max_version": (1, 0)} if NEW_NUMPY else {}


def numpy_gives():
    a = np.arange(24.0).reshape(4, 6)
    for b in (a, a.T, a[::2, 1::2], a[::-1, ::-1], a[1], a[2:2], np.array(7, np.float32)):
        count = sys.getrefcount(b)
        x = LIBRARY.take(b, **NUMPY_OPTIONS)
        assert tuple(x.extent[:x.rank]) == b.shape
        with Opened(LIBRARY, x, READ) as opened:
            c = np.asarray(opened.interface())
            assert c.dtype == b.dtype and (c == b).all()
            assert b.size == 0 or c.ctypes.data == b.ctypes.data
        LIBRARY.free(x)
        assert sys.getrefcount(b) == count


def numpy_gives_between_other_elements():
    """What lies between the elements is not touched, though the array has been on a device."""
    a = np.zeros((4, 6))
    x = LIBRARY.take(a[1:3, ::2], **NUMPY_OPTIONS)
    sim = LIBRARY.find(b"sim:0")
    with Opened(LIBRARY, x, WRITE, sim):
        pass
    a[:, 1::2] = 5
    a[0] = a[3] = 6
    LIBRARY.free(x)
    assert (a[1:3, 1::2] == 5).all() and (a[0] == 6).all() and (a[3] == 6).all()
    assert (a[1:3, ::2] == 0).all()


@version_1
def numpy_gives_for_reading():
    a = np.arange(4.0)
    a.flags.writeable = False
    x = LIBRARY.take(a, **NUMPY_OPTIONS)
    assert refused(is_free, x)
    with Opened(LIBRARY, x, READ):
        pass
    LIBRARY.free(x)


def numpy_is_refused():
    a = np.arange(4.0)
    x = LIBRARY.take(a, **NUMPY_OPTIONS)
    count = sys.getrefcount(a)
    assert "owns" in refused(lambda: LIBRARY.take(a, **NUMPY_OPTIONS))
    assert sys.getrefcount(a) == count
    LIBRARY.free(x)
    b = np.zeros((1,) * 9)
    count = sys.getrefcount(b)
    assert "9 dimensions" in refused(lambda: LIBRARY.take(b, **NUMPY_OPTIONS))
    assert sys.getrefcount(b) == count


def numpy_by_the_array_interface():
    for name in TYPES:
        if name == "bfloat16":
            continue
        x = filled(name=name)
        expected = np.arange(12).astype(numpy_name(name)).reshape(3, 4)
        for view, same in views(x):
            with Opened(LIBRARY, x, READ) as opened:
                opened.darray = view
                a, b = np.asarray(opened.interface()), same(expected)
                assert a.dtype == b.dtype and a.shape == b.shape
                assert a.strides == b.strides or not b.size
                assert (a == b).all() and not a.flags.writeable
                del a
        with Opened(LIBRARY, x, WRITE) as opened:
            assert np.asarray(opened.interface()).flags.writeable
        LIBRARY.free(x)


def numpy_gives_its_array_interface():
    a = np.arange(24, dtype=np.int16).reshape(4, 6)
    for b in (a, a.T, a[::2, 1::2], a[::-1, ::-1], a[1], a[2:2]):
        x = LIBRARY.take_interface(b)
        with Opened(LIBRARY, x, READ) as opened:
            c = np.asarray(opened.interface())
            assert (c == b).all() and c.dtype == b.dtype
        LIBRARY.free(x)
    assert "other order" in refused(LIBRARY.take_interface, a.astype(">i2"))
    assert "no such element type" in refused(LIBRARY.take_interface, np.array(["a", "b"]))


# ---- PyTorch ------------------------------------------------------------------------------------


def torch_takes_every_type():
    for name in TYPES:
        if torch_type(name) is None:
            continue
        x = LIBRARY.zeros(name, (2, 2))
        t = torch.from_dlpack(Exporter(LIBRARY, x, WRITE))
        assert t.dtype == torch_type(name), name
        t[1, 0] = 1
        del t
        t = torch.from_dlpack(Exporter(LIBRARY, x, WRITE))
        assert t.tolist() == [[0, 0], [1, 0]], name
        del t
        LIBRARY.free(x)


def torch_takes_views():
    x = filled()
    expected = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    for view, same in views(x):
        if min(view.stride[:2]) < 0:
            assert refused(torch.from_dlpack, Exporter(LIBRARY, view, WRITE)) # PyTorch has none
            assert is_free(x)
            continue
        t = torch.from_dlpack(Exporter(LIBRARY, view, WRITE))
        e = same(expected)
        assert t.shape == e.shape and (not t.numel() or t.stride() == e.stride())
        assert torch.equal(t, e)
        del t
    assert is_free(x)
    LIBRARY.free(x)


def torch_holds_a_lock_and_memory():
    x = filled()
    t = torch.from_dlpack(Exporter(LIBRARY, x, WRITE))
    assert refused(is_free, x)
    u = t[1:]
    del t
    u += 1
    LIBRARY.free(x)
    assert u.sum() == 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 8


def torch_of_before_version_1():
    x = filled()
    t = torch.from_dlpack(OlderExporter(LIBRARY, x, WRITE))
    assert t.sum() == 66
    del t
    assert is_free(x)
    LIBRARY.free(x)


def torch_gives():
    a = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    for b in (a, a.T, a[::2, 1::2], a[1], a[2:2], a.to(torch.bfloat16), a.to(torch.complex64),
              a > 3, a[:1].expand(4, 6)):
        x = LIBRARY.take(b)
        t = torch.from_dlpack(Exporter(LIBRARY, x, READ))
        assert t.dtype == b.dtype and torch.equal(t, b)
        assert b.numel() == 0 or t.data_ptr() == b.data_ptr()
        del t
        LIBRARY.free(x)


def torch_gets_what_was_written():
    t = torch.zeros(4, 6)
    x = LIBRARY.take(t.T)
    with Opened(LIBRARY, x, WRITE, LIBRARY.find(b"sim:0")):
        pass # now it is valid there only
    u = torch.from_dlpack(Exporter(LIBRARY, x, WRITE))
    u[5, 3] = 9
    del u
    LIBRARY.free(x)
    assert t[3, 5] == 9


@version_1
def torch_and_numpy_share():
    x = filled()
    a, t = (f(Exporter(LIBRARY, x, READ)) for f in (np.from_dlpack, torch.from_dlpack))
    assert (t.numpy() == a).all() and t.data_ptr() == a.ctypes.data
    del a, t
    assert is_free(x)
    LIBRARY.free(x)


# ---- harray itself -------------------------------------------------------------------------------


def harray_takes_its_own():
    """On the host, and on a CUDA device, or the fake driver's."""
    places = [LIBRARY.host(), LIBRARY.find(b"cuda:0") or LIBRARY.host()]
    LIBRARY.take_error()
    for place in places:
        x = filled()
        y = LIBRARY.take(Exporter(LIBRARY, x, WRITE, place), place, max_version=(1, 0),
                         stream=LIBRARY.stream(place))
        assert y.array != x.array and refused(is_free, x)
        with Opened(LIBRARY, y, WRITE) as opened:
            values = (ctypes.c_double * 12).from_address(opened.access.data)
            assert list(values) == list(range(12))
            values[7] = 70
        LIBRARY.free(y) # which brings the values back to where x is
        with Opened(LIBRARY, x, READ) as opened:
            values = (ctypes.c_double * 12).from_address(opened.access.data)
            assert values[7] == 70 and values[8] == 8
        LIBRARY.free(x)


def harray_says_where():
    place = LIBRARY.find(b"cuda:0")
    LIBRARY.take_error()
    x = LIBRARY.zeros("float", (2,))
    assert Exporter(LIBRARY, x, READ).__dlpack_device__() == (1, 0)
    if place:
        assert Exporter(LIBRARY, x, READ, place).__dlpack_device__() == (2, 0)
    assert "sim:0" in refused(Exporter(LIBRARY, x, READ, LIBRARY.find(b"sim:0")).__dlpack__)
    LIBRARY.free(x)


# ---- running ------------------------------------------------------------------------------------


def nothing_is_left():
    gc.collect()
    LIBRARY.check(LIBRARY.shutdown())


def missing(case):
    """The packages that it is about and that are not there."""
    words = case.__name__.split("_")
    return [name for name, package in (("numpy", np), ("torch", torch))
            if name in words and package is None] + (
                ["a NumPy with DLPack 1"]
                if hasattr(case, "needs_version_1") and not NEW_NUMPY else [])


CASES = [case for name, case in list(globals().items())
         if name.startswith(("harray_", "numpy_", "torch_")) and callable(case)
         and name not in ("numpy_name", "torch_type")] + [nothing_is_left]


def problem_of(case):
    try:
        case()
    except AssertionError as error:
        line = error.__traceback__
        while line.tb_next:
            line = line.tb_next
        return f"line {line.tb_lineno}: {error}"
    except Exception as error: # pylint: disable=broad-exception-caught
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return ""


def main():
    if not np and not torch:
        print("1..0 # SKIP neither NumPy nor PyTorch is there")
        return 77
    failed = 0
    print(f"1..{len(CASES)}")
    for number, case in enumerate(CASES, 1):
        name = case.__name__.replace("_", " ")
        if missing(case):
            print(f"ok {number} - {name} # SKIP {missing(case)[0]} is not there")
            continue
        problem = problem_of(case)
        failed += problem != ""
        print(f"{'not ok' if problem else 'ok'} {number} - {name}", flush=True)
        if problem:
            print(f"# {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
