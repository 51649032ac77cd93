"""CUDA devices: what is exported to a GPU's package and taken from it, over a driver with the host's memory behind it."""
import gc
import signal
import sys
import threading
import time

import numpy as np
import pytest

import fake_cupy as cupy
import harray as ha

pytestmark = pytest.mark.skipif(not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver")
VIEWS = [lambda x: x, lambda x: x[1:, ::2], lambda x: x[::-1, ::-3], lambda x: x.T, lambda x: x[2], lambda x: x[1, 2, ...], lambda x: x[:, 3:3]]


@pytest.fixture(name="x")
def field():
    return ha.array(np.arange(24.0).reshape(4, 6), name="field")


@pytest.fixture(name="gpu", scope="module")
def device():
    return ha.context("cuda:0")


def test_what_an_access_says_of_itself(x, gpu):
    assert gpu in ha.devices() and ha.best() == gpu and gpu.kind == "cuda" and gpu.stream
    with x[1:, ::2].write(gpu) as v:
        told = v.__cuda_array_interface__
        assert told == {"shape": (3, 3), "typestr": "<f8", "data": (v.pointer, False), "strides": (48, 16), "version": 3, "stream": gpu.stream}
        assert v.__dlpack_device__() == (2, 0)
        with pytest.raises(AttributeError, match="open at cuda:0"):
            v.__array_interface__ # pylint: disable=pointless-statement
        with pytest.raises(BufferError, match="host cannot reach it"):
            memoryview(v)
    with x.read(gpu) as v:
        assert v.__cuda_array_interface__["data"][1] is True and v.__cuda_array_interface__["strides"] is None
    with x.read() as v, pytest.raises(AttributeError, match="open at host"):
        v.__cuda_array_interface__ # pylint: disable=pointless-statement
    with ha.zeros(3, "bfloat16", name="b").read(gpu) as v, pytest.raises(AttributeError, match="bfloat16"):
        v.__cuda_array_interface__ # pylint: disable=pointless-statement


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("name", ["cuda:0", "cuda:1"])
def test_written_there_and_read_on_the_host(x, view, name):
    expected, number = np.arange(24.0).reshape(4, 6), int(name[-1])
    with view(x).write(name) as v:
        a = cupy.asarray(v, number)
        assert a.shape == v.shape and (a.get() == view(expected)).all()
        a.set(view(expected) * 2 + 1)
    view(expected)[...] = view(expected) * 2 + 1
    assert (x.numpy() == expected).all() and (np.asarray(x) == expected).all()
    with view(x).overwrite() as v:
        np.asarray(v)[...] = 7
    view(expected)[...] = 7
    with view(x).read("cuda:0") as v, x.read("cuda:1") as w:
        assert (cupy.asarray(v).get() == view(expected)).all() and (cupy.asarray(w, 1).get() == expected).all()


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16", "bool", "u4"])
def test_dlpack_there_and_back(view, dtype, gpu):
    expected = np.arange(24).reshape(4, 6).astype(dtype)
    x = ha.array(expected, name="field")
    with view(x).write(gpu) as v:
        a = cupy.from_dlpack(v, v.stream, max_version=(1, 0))
        assert not a.read_only and a.shape == v.shape and a.dtype == expected.dtype and (a.get() == view(expected)).all()
        a.set(~view(expected) if dtype == "bool" else view(expected) * 3)
        del a
    view(expected)[...] = ~view(expected) if dtype == "bool" else view(expected) * 3
    assert (x.numpy() == expected).all()
    x.write(gpu).close() # its values are there alone
    if view(expected).size:
        a = cupy.from_dlpack(view(x), max_version=(1, 0))
        assert a.read_only and (a.get() == view(expected)).all()
    b = cupy.ndarray((4, 6), dtype)
    b.set(expected)
    y = view(ha.from_dlpack(b))
    assert (y.numpy() == view(expected)).all() and y.shape == view(expected).shape


def test_leaving_waits_for_nothing_and_readers_wait(x, gpu):
    with x.write(gpu) as v:
        cupy.hold(gpu.stream)
        cupy.asarray(v).fill_bytes(0)
    seen, reader = [], None
    try: # the stream has done nothing yet
        assert x.residency["cuda:0"] == "dirty" and x.residency["host"] == "stale"
        with x.write(gpu) as v:
            cupy.asarray(v).fill_bytes(255)
        reader = threading.Thread(target=lambda: seen.append(x.numpy()))
        reader.start()
        reader.join(0.05)
        assert not seen
    finally:
        cupy.go_on(gpu.stream)
    reader.join()
    assert np.isnan(seen[0]).all() # all bits are set


@pytest.mark.parametrize("stream", ["own", "legacy", None, "fork", "adopted"])
def test_a_consumer_of_a_tensor_is_waited_for(x, gpu, stream):
    """What it has enqueued, when it gives the tensor back, comes before whoever opens the array next; the other way round, too."""
    context = {"fork": gpu.fork, "adopted": lambda: ha.adopt(gpu, cupy.new_stream())}.get(stream, lambda: gpu)()
    number = 1 if stream in ("legacy", None) else context.stream
    v = x.write(gpu)
    cupy.hold(gpu.stream)
    cupy.asarray(v).fill_bytes(0)
    if number != gpu.stream:
        cupy.hold(number)
    seen = []
    try:
        a = cupy.from_dlpack(v, stream and number, max_version=(1, 0))
        a.stream = number
        a.fill_bytes(255) # behind the zeros
        del a
        v.close()
        reader = threading.Thread(target=lambda: seen.append(x.numpy()))
        reader.start()
        if number != gpu.stream:
            cupy.go_on(number) # it waits for the first stream
        reader.join(0.05)
        assert not seen
    finally:
        cupy.go_on(number)
        cupy.go_on(gpu.stream)
    reader.join()
    assert np.isnan(seen[0]).all()
    if context != gpu:
        context.unfork()


def test_an_unordered_consumer_waits_for_nothing(x, gpu):
    with x.write(gpu) as v:
        cupy.hold(gpu.stream)
        cupy.asarray(v).fill_bytes(0)
        try:
            a = cupy.from_dlpack(v, -1, max_version=(1, 0)) # returns: nobody waits
            del a
        finally:
            cupy.go_on(gpu.stream)
    assert not x.numpy().any()


@pytest.mark.parametrize("stream", [None, 2])
def test_a_consumer_without_a_stream_gets_what_is_there(x, gpu, stream):
    with x.write(gpu) as v:
        cupy.asarray(v).fill_bytes(0)
        a = cupy.from_dlpack(v, stream, max_version=(1, 0))
        a.stream = 1
        assert not a.get().any()
        del a
    with x.read(gpu) as v, pytest.raises(TypeError):
        v.__dlpack__(stream="first", max_version=(1, 0))


def test_closing_while_an_export_waits(x, gpu):
    v, made = x.write(gpu), []
    def export():
        return v.__dlpack__(stream=2, max_version=(1, 0)) # for such a consumer it waits, without the GIL
    thread = threading.Thread(target=lambda: made.append(export()))
    cupy.hold(gpu.stream)
    try:
        cupy.asarray(v).fill_bytes(0)
        thread.start()
        def is_inside():
            frame = sys._current_frames().get(thread.ident) # pylint: disable=protected-access
            return frame and frame.f_code is export.__code__ and frame.f_lineno == export.__code__.co_firstlineno + 1
        while thread.is_alive() and not is_inside():
            time.sleep(0.001)
        with pytest.raises(BufferError, match="'field' is still exported"):
            v.close()
        assert not v.closed and not made
    finally:
        cupy.go_on(gpu.stream)
    thread.join()
    assert '"dltensor_versioned"' in repr(made.pop())
    v.close()
    assert not x.numpy().any()


def test_stream_0_is_ambiguous(x, gpu):
    """DLPack disallows it on CUDA: it could be the legacy default stream, or the per-thread one."""
    how = {"stream": 0, "max_version": (1, 0)}
    with x.read(gpu) as v:
        for more in ({}, {"copy": True}):
            with pytest.raises(ValueError, match="stream 0 is ambiguous on CUDA.*1 is the legacy"):
                v.__dlpack__(**how, **more)
        assert "dltensor_versioned" in repr(v.__dlpack__(**how, dl_device=(1, 0))) # a copy on the host, which has no streams
    x.write(gpu).close()
    with pytest.raises(ValueError, match="stream 0 is ambiguous on CUDA"):
        x.__dlpack__(**how)
    assert not ha.exports()
    x.write().close() # nothing that was refused is open


def test_versions_of_dlpack(x, gpu):
    x.write(gpu).close()
    for version in (None, (0, 8)):
        with pytest.raises(BufferError, match=r"'field'.*x\.write\(ctx\)"):
            x.__dlpack__(max_version=version)
        with x.read(gpu) as v, pytest.raises(BufferError, match=r"'field'.*x\.write\(ctx\)"):
            v.__dlpack__(max_version=version)
        with x.write(gpu) as v:
            a = cupy.from_dlpack(v, max_version=version)
            assert not hasattr(a.owner.managed, "version")
            a.set(5.0)
            del a
        assert (x.numpy() == 5).all()
        x.write(gpu).close()
    for version in ((1, 0), (1, 3), (2, 0)):
        a = cupy.from_dlpack(x, max_version=version)
        assert a.owner.managed.version[0] == 1 and a.read_only and a.get()[3, 5] == 5
        del a
    own = cupy.from_dlpack(x, max_version=(1, 0), copy=True)
    assert own.owner.managed.flags == 2 and own.pointer != x.read(gpu).pointer
    own.set(9.0)
    assert (x.numpy() == 5).all()
    x.write(gpu).close()
    assert np.from_dlpack(x, device="cpu").tolist() == [[5.0] * 6] * 4 # brought to the host
    x.write(gpu).close()
    with pytest.raises(BufferError, match="'field'.*device that is asked for"):
        x.__dlpack__(dl_device=(2, 1), max_version=(1, 0))
    with x.read(gpu) as v:
        assert np.from_dlpack(v, device="cpu").flags.writeable # a copy
        with pytest.raises(BufferError, match="another device"):
            v.__dlpack__(dl_device=(1, 0), copy=False, max_version=(1, 0))


def test_exports_keep_accesses_open(x, gpu):
    v = x.write(gpu)
    a = cupy.from_dlpack(v, max_version=(1, 0))
    with pytest.raises(BufferError, match="'field' is still exported: DLPack at fake_cupy.py.*stays open"):
        v.close()
    told = [e for e in ha.exports() if e["array"] == "field"]
    assert [(e["kind"], e["how"], e["context"]) for e in told] == [("DLPack", "write", "cuda:0")]
    del a
    v.close()
    with pytest.raises(BufferError, match="closed when that has gone"):
        with x.write(gpu) as v:
            a = cupy.from_dlpack(v, max_version=(1, 0))
    a.set(3.0)
    with pytest.raises(BufferError, match="'field'.*'field' is exported: DLPack at fake_cupy.py"):
        x.read()
    del a
    assert (x.numpy() == 3).all()
    x.write(gpu).close()
    a = cupy.from_dlpack(x, max_version=(1, 0)) # of the array itself: for reading
    assert [e["how"] for e in ha.exports()] == ["read"]
    assert (np.asarray(x) == 3).all() # both read
    with pytest.raises(BufferError, match="'field'.*DLPack at fake_cupy.py"):
        x.write(gpu)
    pointer = a.pointer
    del x
    gc.collect()
    assert a.pointer == pointer and (a.get() == 3).all() # the tensor is an owner
    del a
    assert not ha.exports()


def test_conflicts(x, gpu):
    with x.write(gpu):
        for use in (x.read, lambda: np.asarray(x), lambda: x.read("cuda:1"), lambda: x.__dlpack__(max_version=(1, 0)), lambda: x[0, 0]):
            with pytest.raises(BufferError, match="'field'"):
                use()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(x.numpy()))
        thread.start()
        thread.join(0.05)
        assert not seen # another thread waits
    thread.join()
    assert seen[0][3, 5] == 23
    with x[:2].write(gpu), x[2].write(), x.T[5, 3:].read():
        pass


def test_with_numpy_between(gpu):
    x, expected = ha.zeros(100, "i8", name="counter"), np.zeros(100, "i8")
    for i in range(20):
        with x[i:].write(gpu if i % 3 else "cuda:1") as v:
            a = cupy.asarray(v, 0 if i % 3 else 1)
            a.set(a.get() + 1)
        with x[::2].write() as v:
            np.asarray(v)[...] *= 2
        expected[i:] += 1
        expected[::2] *= 2
    assert (np.asarray(x) == expected).all()


@pytest.mark.parametrize("stream", [1, None, "own", "adopted", "fork"])
def test_an_interface_is_taken(gpu, stream):
    a = cupy.ndarray((4, 6), "f4")
    context = {"adopted": lambda: ha.adopt(gpu, cupy.new_stream()), "fork": gpu.fork}.get(stream, lambda: gpu)()
    if stream in ("own", "adopted", "fork"):
        a.stream = context.stream
    if stream in (1, "adopted", "fork"):
        cupy.hold(a.stream)
    a.fill_bytes(255)
    number, a.stream = a.stream, (stream if stream in (1, None) else context.stream)
    if stream is None:
        cupy.synchronize(number) # there is nothing to wait for
    seen = []
    x = ha.wrap(a, name="a")
    assert x.shape == (4, 6) and x.dtype == "float32" and x.residency == {"cuda:0": "dirty"}
    reader = threading.Thread(target=lambda: seen.append(x.numpy()))
    reader.start()
    if stream in (1, "adopted", "fork"):
        reader.join(0.05)
        assert not seen
        cupy.go_on(number)
    reader.join()
    assert np.isnan(seen[0]).all()
    a.stream = number
    with x.overwrite() as v:
        np.asarray(v)[...] = 4
    assert np.isnan(a.get()).all()
    x.sync()
    assert (a.get() == 4).all()
    if context != gpu:
        context.unfork()


def test_what_is_taken_is_kept_and_given_back(gpu):
    a = cupy.ndarray((6,), "i4")
    a.set(np.arange(6))
    x = ha.from_dlpack(a)
    assert a.asked == (gpu.stream, (1, 0)) and len(cupy.live) == 1
    y = x[::2]
    del x
    gc.collect()
    assert cupy.live and y.tolist() == [0, 2, 4]
    y[...] = 9
    del y # the values come back first
    gc.collect()
    assert not cupy.live and a.get().tolist() == [9, 1, 9, 3, 9, 5]
    a.read_only = True
    x = ha.from_dlpack(a)
    x.name = "fixed"
    with pytest.raises(RuntimeError, match="'fixed'"):
        x.write(gpu)
    del x
    gc.collect()
    x = ha.wrap(a, name="fixed") # by the interface
    with pytest.raises(RuntimeError, match="'fixed'"):
        x.write()
    assert x[0] == 9


def test_older_producers(gpu):
    class Older:
        """Without a version."""
        def __init__(self):
            self.values = cupy.ndarray((3,), "u2")
            self.values.set([1, 2, 3])

        def __dlpack__(self, stream=None):
            return self.values.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return 2, 0

    x = ha.from_dlpack(Older())
    assert x.tolist() == [1, 2, 3]
    with x.write(gpu) as v:
        cupy.asarray(v).set([4, 5, 6])
    assert x.tolist() == [4, 5, 6]
    del x, v
    gc.collect()
    assert not cupy.live


def test_taking_to_other_places(gpu):
    a = cupy.ndarray((3,), "f8")
    a.set([1, 2, 3])
    with pytest.raises(ValueError, match="cuda:0.*host.*copy"):
        ha.from_dlpack(a, device="host", copy=False)
    x = ha.from_dlpack(a, device="host")
    y = ha.from_dlpack(a, copy=True)
    z = ha.array(a)
    assert "host" in x.residency and "cuda:0" in y.residency
    for of in (x, y, z):
        with of.overwrite(gpu) as v:
            cupy.asarray(v).set(0.0)
    assert a.get().tolist() == [1, 2, 3]
    assert x.tolist() == y.tolist() == z.tolist() == [0, 0, 0]


@pytest.mark.parametrize("changes, error, words", [
    ({"stream": 0}, ValueError, "stream"), ({"stream": 2}, ValueError, "per-thread default stream"), ({"stream": "first"}, ValueError, "'stream'"), ({"version": 1}, (ValueError, NotImplementedError), "version"),
    ({"typestr": "|O8"}, (ValueError, NotImplementedError), "."), ({"shape": (-1,)}, ValueError, "negative"), ({"mask": 3}, None, None),
    ({"data": (8, False)}, ValueError, "0x8|address|memory")])
def test_wrong_interfaces(gpu, changes, error, words):
    a = cupy.ndarray((3,), "f8")
    a.set([1, 2, 3])
    cupy.synchronize(a.stream) # what is refused waits for nothing

    class Exporter: # pylint: disable=too-few-public-methods
        """With something wrong."""
        __cuda_array_interface__ = {**a.__cuda_array_interface__, **changes}

    if error:
        with pytest.raises(error, match=words):
            ha.wrap(Exporter(), ctx=gpu)
    else:
        assert ha.wrap(Exporter(), ctx=gpu).tolist() == [1, 2, 3]


def test_the_device_of_memory(gpu):
    a = cupy.ndarray((3,), "f8", device=1)
    a.set([1, 2, 3])
    x = ha.wrap(a)
    assert x.residency == {"cuda:1": "dirty"} and x.tolist() == [1, 2, 3]
    del x
    assert ha.from_dlpack(a).residency == {"cuda:1": "dirty"}
    with pytest.raises(ValueError):
        ha.wrap(a, ctx=gpu)


def test_ctrl_c_ends_a_wait_for_a_device(gpu):
    own = gpu.fork()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    m = ha.Memory(8, "device", gpu)
    cupy.hold(own.stream)
    try:
        cupy.call(0, "cuMemsetD8Async", m.pointer, 7, 8, own.stream)
        with ha.zeros(3, name="x").write(own):
            pass
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt): # nothing else ends it
            own.finish()
    finally:
        signal.signal(signal.SIGALRM, before)
        cupy.go_on(own.stream)
    own.finish()
    assert m.copy_to_host() == bytes([7]) * 8


@pytest.mark.parametrize("kind", ["device", "host"])
def test_the_interface_of_memory(gpu, kind):
    m = ha.Memory(24, kind, gpu)
    told = m.__cuda_array_interface__
    assert told == {"shape": (24,), "typestr": "|u1", "data": (m.pointer, False), "strides": None, "version": 3,
                    "stream": gpu.stream or 1}
    m.memset(7)
    a = cupy.asarray(m)
    assert a.get().tolist() == [7] * 24
    a.fill_bytes(9)
    assert m.copy_to_host() == bytes([9]) * 24 # it comes after what was enqueued on the stream that was told
    with ha.on(gpu): # other places have other interfaces
        for other in (ha.Memory(8, "host", "host"), ha.Memory(8, "device", "sim:0")):
            assert not hasattr(other, "__cuda_array_interface__")
            with pytest.raises(AttributeError, match="memory of (host|sim:0)"):
                other.__cuda_array_interface__ # pylint: disable=pointless-statement


def test_adopting_a_stream(x, gpu):
    number = cupy.new_stream()
    own = ha.adopt(gpu, number)
    assert own.stream == number and own.kind == "cuda"
    with x.write(own) as v:
        assert v.__cuda_array_interface__["stream"] == number
        cupy.asarray(v).set(6.0)
    with x.write(gpu) as v:
        assert (cupy.asarray(v).get() == 6).all()
    with pytest.raises(RuntimeError):
        ha.adopt(gpu, number) # it is a context
    class Queue: # as dpctl's, which are not CUDA's
        def addressof_ref(self): return number
    with pytest.raises(TypeError, match="is not a number, as streams of cuda:0 are"):
        ha.adopt(gpu, Queue())
    own.unfork()
    ha.adopt(gpu, number).unfork()
    legacy = ha.adopt(gpu, 0)
    with x.write(legacy) as v:
        assert v.__cuda_array_interface__["stream"] == 1
        cupy.asarray(v).set(8.0)
    assert (x.numpy() == 8).all()
    legacy.unfork()


@pytest.mark.parametrize("kind", ["number", "ptr", "cuda_stream", "__cuda_stream__"])
def test_a_block_on_a_stream(x, gpu, kind):
    number = cupy.new_stream()
    theirs = {"number": number}.get(kind) or type("Stream", (), {kind: (lambda _: (0, number)) if kind[0] == "_" else number})()
    with ha.stream(gpu, theirs) as own:
        assert own.stream == number and str(own).startswith("cuda:0/")
        with x.write() as v:
            assert v.stream == number and v.context == own
            cupy.hold(number)
            cupy.asarray(v).fill_bytes(0)
        cupy.go_on(number)
    assert not np.asarray(x).any()
    with x.read() as v:
        assert v.context == ha.host
    with pytest.raises(TypeError):
        ha.stream(gpu, "no stream")
    with pytest.raises(RuntimeError): # it was given back
        own.unfork()


def test_budgets(gpu):
    ha.set_budget(gpu, 1 << 20)
    try:
        many = [ha.full(30000, float(i)) for i in range(8)]
        for y in many:
            with y.write(gpu) as v:
                a = cupy.asarray(v)
                a.set(a.get() * 2)
        assert gpu.pressure["evictions"] and [y[29999] for y in many] == [2.0 * i for i in range(8)]
    finally:
        ha.set_budget(gpu, 0)
