"""Accesses: what they export, what they exclude, and how long."""
import gc
import hashlib
import sys
import threading
import time

import numpy as np
import pytest

import harray as ha


@pytest.fixture(name="x")
def field():
    x = ha.zeros((4, 5), name="field")
    x[...] = 1
    return x


def test_reading_writing_overwriting(x):
    with x.overwrite() as v:
        np.asarray(v)[...] = np.arange(20).reshape(4, 5)
    with x[1:, ::2].write() as v:
        np.asarray(v)[...] *= 2
    expected = np.arange(20.0).reshape(4, 5)
    expected[1:, ::2] *= 2
    assert np.asarray(x).tolist() == expected.tolist()
    with x.read() as v:
        a = np.asarray(v)
        assert not a.flags.writeable and a.sum() == expected.sum()
        with pytest.raises(ValueError, match="read-only"):
            a[...] = 1
        del a
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 1


def test_attributes_of_an_access(x):
    v = x.write("sim:0")
    assert (v.array, v.shape, v.dtype, v.ndim, v.mode) == (x, (4, 5), "float64", 2, "write")
    assert v.context == ha.context("sim:0") and v.pointer and v.strides == (40, 8) and not v.closed
    assert "test_access.py" in repr(v)
    with v:
        v.close()
        line = told_line()
    v.close()
    assert v.closed and f"closed at test_access.py:{line}>" in repr(v) # where it was closed first
    for use in (lambda: v.pointer, lambda: np.asarray(v), lambda: v.context, lambda: v.__array_interface__,
                lambda: v.__enter__(), lambda: memoryview(v), lambda: v.__dlpack__(), lambda: v.stream):
        with pytest.raises(ValueError, match="'field' was closed at test_access.py"):
            use()


def test_the_interface_of_an_access(x):
    with x[:, 1:].write() as v:
        told = v.__array_interface__
        assert told["shape"] == (4, 4) and told["strides"] == (40, 8) and told["typestr"] == "<f8"
        assert told["data"] == (v.pointer, False) and told["version"] == 3
        with pytest.raises(AttributeError, match="open at host"):
            v.__cuda_array_interface__ # pylint: disable=pointless-statement
    with x.read("sim:0") as v:
        with pytest.raises(AttributeError, match="open at sim:0"):
            v.__array_interface__ # pylint: disable=pointless-statement
        with pytest.raises(BufferError, match="open it on harray.host"):
            memoryview(v)
    b = ha.zeros(3, "bfloat16", name="b")
    with b.read() as v, pytest.raises(AttributeError, match="bfloat16"):
        v.__array_interface__ # pylint: disable=pointless-statement
    with pytest.raises(BufferError, match="'b'.*bfloat16"):
        memoryview(b)


def test_an_export_keeps_the_access_open(x):
    v = x.write()
    a = np.asarray(v)
    with pytest.raises(BufferError, match="'field' is still exported: buffer at test_access.py:.*stays open"):
        v.close()
    b = memoryview(v)
    with pytest.raises(BufferError, match="and 1 more"):
        v.close()
    del a
    b.release()
    v.close()


def test_leaving_with_an_export(x):
    with pytest.raises(BufferError, match="closed when that has gone"):
        with x.write() as v:
            a = np.asarray(v)
    a[...] = 3 # still good
    with pytest.raises(BufferError, match="'field' is exported: buffer at test_access.py"):
        x.read().close()
    del a
    assert x[0, 0] == 3
    with pytest.raises(KeyError):
        with x.write() as v:
            a = np.asarray(v)
            raise KeyError
    del a
    x.write().close()


def test_the_collector_closes(x):
    x.write() # nobody keeps it
    x.write().close()
    cycle = [x.write()]
    cycle.append(cycle)
    del cycle
    gc.collect()
    x.write().close()


def test_conflicts_in_one_thread(x):
    for first, second in (("write", "read"), ("read", "write"), ("write", "write"), ("overwrite", "read")):
        with getattr(x, first)(), pytest.raises(BufferError, match="'field'.*x.numpy"):
            getattr(x, second)()
    with x.read(), x.read(), x.read("sim:0"):
        pass
    with x[:2].write(), x[2:].write("sim:0"):
        pass
    a = np.asarray(x)
    with pytest.raises(BufferError, match="exported: buffer at test_access.py"):
        x.write("sim:0")
    del a
    a = x.numpy()
    x.write("sim:0").close()
    assert a.flags.owndata


def test_conflicts_say_what_was_exported(x):
    """However the array was to be used."""
    y, z, mask = ha.full((4, 5), 2.0, name="y"), ha.zeros((4, 5), name="z"), ha.zeros((4, 5), "bool")
    a, more = np.asarray(x), memoryview(x)
    line = told_line(a, more)
    exported = rf"'field' is exported: buffer at test_access.py:{line} and 1 more; x.numpy\(\) gives a copy"
    for use in (lambda: ha.ops.add(z, y, x), lambda: ha.ops.sqrt(y, x), lambda: ha.ops.axpby(1, y, 1, z, x),
                lambda: ha.ops.clip(y, 0, 1, x), lambda: ha.ops.where(mask, y, z, x), lambda: ha.ops.sequence(x),
                lambda: ha.ops.random(x, 1), lambda: ha.ops.random_normal(x, 1), lambda: x.__setitem__((0, 0), 1),
                lambda: x.__setitem__(slice(2), 1), lambda: x.__setitem__(slice(None), y),
                lambda: ha.open_all((y, "read"), (x, "write")), lambda: ha.open_all((x, "overwrite"), (y, "read"), on="sim:0")):
        with pytest.raises(BufferError, match=exported):
            use()
    del a
    more.release()
    with x.write() as v:
        a = np.asarray(v)
        for use in (lambda: ha.ops.add(y, x), lambda: ha.ops.add(y, 1, x), lambda: ha.ops.sum(x), lambda: ha.ops.dot(y, x),
                    lambda: ha.ops.norm(y, x), lambda: ha.ops.count_nonzero(x), lambda: ha.ops.where(mask, y, x), lambda: x[0, 0],
                    lambda: ha.equal(x, y), x.copy, lambda: x.astype("f4"), x.tolist, lambda: ha.open_all((y, "read"), (x, "read"))):
            with pytest.raises(BufferError, match="'field' is exported: buffer at test_access.py"):
                use()
        del a
    b, c = np.asarray(y), np.asarray(z)
    with pytest.raises(BufferError, match="'z' is exported") as told:
        ha.ops.add(y, x, z)
    assert "'y' is exported" not in str(told.value) # which is only read, and in nobody's way
    del b, c


def told_line(*_):
    """The line before the one that calls this."""
    return sys._getframe(1).f_lineno - 1 # pylint: disable=protected-access


def test_asarray_says_why(x):
    with x.write(), pytest.raises(BufferError, match="'field'"):
        np.asarray(x)
    with pytest.raises(RuntimeError, match="'u'.*never written"):
        np.asarray(ha.empty(3, name="u"))
    assert np.array(x, "f4").dtype == "f4" and np.asarray(x, dtype="i8").dtype == "i8"
    assert np.array(x, copy=True).flags.owndata
    with pytest.raises(ValueError):
        np.array(x[::2], dtype="i1", copy=False)


def test_exports_are_listed(x):
    a = np.asarray(x)
    told = [e for e in ha.exports() if e["array"] == "field"]
    assert len(told) == 1 and told[0]["how"] == "read" and told[0]["site"].startswith("test_access.py:")
    del a
    assert not [e for e in ha.exports() if e["array"] == "field"]


def test_each_place_is_told(x):
    """Also of places that were looked up before: several in one line, lines of one function, more than are remembered."""
    def opened(v):
        return repr(v).rsplit(":", 1)[1].rstrip(">")

    def lines():
        return [x.read(), x.read(),
                x.read()]
    first = lines.__code__.co_firstlineno + 1
    for _ in range(3):
        assert [opened(v) for v in lines()] == [str(first), str(first), str(first + 1)]
    places = [compile("\n" * i + "x.read()", "places.py", "eval") for i in range(600)]
    for _ in range(2):
        assert [opened(eval(place, {"x": x})) for place in places] == [str(i + 1) for i in range(600)] # pylint: disable=eval-used


def test_arguments_of_opening(x):
    with x.read(ctx="sim:0", wait=False) as v, x.read("sim:0", wait=True) as w, x.read(None) as host:
        assert str(v.context) == str(w.context) == "sim:0" and host.context == ha.host
    for arguments, names in ((("sim:0", False), {}), (("sim:0",), {"ctx": "sim:0"}), ((), {"where": "sim:0"}), ((1,), {})):
        for method in (x.read, x.write, x.overwrite):
            with pytest.raises(TypeError, match="context"):
                method(*arguments, **names)
    with pytest.raises(ZeroDivisionError):
        class Odd: # pylint: disable=missing-class-docstring
            def __bool__(self):
                return bool(1 // 0)
        x.read(wait=Odd())
    with x.write() as v:
        with pytest.raises(TypeError, match="__exit__"):
            v.__exit__(None)
        assert not v.closed
    assert v.closed


def test_buffers_for_those_who_write(x, tmp_path):
    (tmp_path / "data").write_bytes(np.full(20, 7.0).tobytes())
    with open(tmp_path / "data", "rb") as file:
        assert file.readinto(x) == 160
    assert x[3, 4] == 7 and bytes(x) == np.asarray(x).tobytes()
    with open(tmp_path / "again", "wb") as file:
        file.write(x)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "data").read_bytes()
    with pytest.raises(BufferError, match="'field'.*gaps"):
        hashlib.sha1(x[:, ::2])
    with x.read() as v, open(tmp_path / "data", "rb") as file, pytest.raises(TypeError, match="read-write"):
        file.readinto(v)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1)])
def test_small_shapes(shape):
    x = ha.zeros(shape, "i4")
    a = np.asarray(x)
    assert a.shape == shape and a.dtype == "i4"
    del a
    with x.write("sim:0"):
        pass
    with x.write() as v:
        np.asarray(v)[...] = 1
    assert np.from_dlpack(x).shape == shape and x.numpy().sum() == (0 if 0 in shape else 1)


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_other_threads_wait(x):
    order = []
    v = x.write()
    with pytest.raises(BufferError):
        x.write(wait=False) # its own
    def other():
        try:
            x.read(wait=False)
        except BlockingIOError as error:
            order.append(str(error))
        with x.read():
            order.append("read")
    thread = in_thread(other)
    time.sleep(0.2)
    assert order == ["'field' is in use by another thread"]
    v.close()
    thread.join()
    assert order[1] == "read"


def test_the_main_thread_waits_too(x):
    opened, leave = threading.Event(), threading.Event()
    def other():
        with x.write():
            opened.set()
            leave.wait()
    thread = in_thread(other)
    opened.wait()
    threading.Timer(0.3, leave.set).start()
    begin = time.monotonic()
    with x.read():
        assert time.monotonic() - begin > 0.2
    with pytest.raises(BufferError): # it is this thread's: a second one is refused, not waited for
        with x.read():
            x.write()
    thread.join()


def test_an_access_ends_on_any_thread(x):
    v = x.write()
    thread = in_thread(v.close)
    thread.join()
    x.write().close()


def test_many_threads():
    x = ha.zeros(8, "i8")
    def work():
        for _ in range(100):
            with x.write() as v:
                np.asarray(v)[...] += 1
            with x.write("sim:0"):
                pass
    threads = [in_thread(work) for _ in range(8)]
    for thread in threads:
        thread.join()
    assert x.tolist() == [800] * 8


def test_open_all(x):
    y = ha.full(3, 2.0, name="y")
    with ha.open_all((x, "write"), (y, "read"), on="sim:0") as (v, w):
        assert v.context == w.context == ha.context("sim:0") and v.mode == "write" and w.mode == "read"
        with pytest.raises(BufferError):
            y.write()
    assert v.closed and w.closed
    with y.write():
        with pytest.raises(BufferError, match="'y'"):
            ha.open_all((x, "write"), (y, "read"))
        x.write().close() # nothing was opened
    both = ha.open_all((x, "read"), (x, "read"))
    both.close()
    with pytest.raises(BufferError):
        with ha.open_all((x, "write"), (y, "write")) as (v, w):
            a = np.asarray(v)
    y.write().close() # the other one was closed
    del a
    x.write().close()
    for wrong, error in (((x,), TypeError), ((x, "look"), ValueError), ((3, "read"), TypeError), (x, TypeError)):
        with pytest.raises(error):
            ha.open_all(wrong)
    with ha.open_all() as nothing:
        assert nothing == ()


def test_no_memory_for_all_of_them(x):
    """Each is named, not only the one for which there was none."""
    y, z, sim = ha.zeros((1 << 17) - 512, name="y"), ha.zeros(1024), ha.context("sim:0")
    ha.set_budget(sim, 1 << 20) # y has room, and what others hold; y and z have none
    try:
        with pytest.raises(MemoryError, match=r"asked for together at sim:0: 'field' \(160 bytes\), 'y' \(1044480 bytes\), an array \(8192 bytes\)$"):
            ha.open_all((x, "read"), (y, "read"), (z, "write"), on=sim)
        ha.open_all((y, "read"), on=sim).close()
        with pytest.raises(MemoryError, match=r"asked for together at sim:0: 'y' \(1044480 bytes\), an array \(8192 bytes\)$"):
            ha.open_all((y[::2], "read"), (z, "read"), on=sim) # of a view all is opened
    finally:
        ha.set_budget(sim, 0)
    x.write().close()


def test_on(x):
    gpu = ha.context("sim:0")
    with ha.on(gpu):
        assert x.read().context == gpu and ha.zeros(3).residency == {"sim:0": "dirty"}
        with ha.on("host"):
            assert x.read().context == ha.host
        assert x.read().context == gpu and np.asarray(x).sum() == 20
    assert x.read().context == ha.host
    with pytest.raises(LookupError):
        with ha.on("gpu:0"):
            pass
    with pytest.raises(KeyError), ha.on(gpu):
        raise KeyError
    assert x.read().context == ha.host


def test_no_transfers(x):
    with x.write("sim:0"):
        pass
    with ha.no_transfers(), pytest.raises(RuntimeError, match="'field'"):
        x.read()
    x.read().close()
