"""Dask: a store by itself, and on a cluster of two worker processes with less memory than the data."""
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

import dask.sizeof # pylint: disable=wrong-import-position
import dask.tokenize # pylint: disable=wrong-import-position
from distributed.protocol import deserialize, serialize # pylint: disable=wrong-import-position

import fake_cupy as cupy # pylint: disable=wrong-import-position
import harray as ha # pylint: disable=wrong-import-position
import harray.dask # pylint: disable=wrong-import-position


def alone(program, tmp_path, timeout=100):
    """A program in an interpreter of its own."""
    file = tmp_path / "program.py"
    file.write_text("import os, sys, numpy as np, harray as ha, harray.dask\n" + textwrap.dedent(program), encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=timeout, check=False,
                          env={**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    assert done.returncode == 0 and done.stdout.endswith("passed\n"), done.stdout + done.stderr


@pytest.mark.parametrize("make", [lambda: ha.array(np.arange(6.0).reshape(2, 3), name="x"), lambda: ha.zeros((0, 2), "i4"),
                                  lambda: ha.array(np.arange(12).reshape(3, 4))[::2, ::-1], lambda: ha.full((), 2),
                                  lambda: ha.array([1.5, 2], "bfloat16"), lambda: ha.array([1j, 2]), lambda: ha.array([1.5], "f2")], ids=range(7))
def test_serialisation(make):
    x = make()
    header, frames = serialize(x, serializers=["dask"])
    assert header["serializer"] == "dask" and len(frames) == 1
    for received in (frames, [bytearray(frames[0])], [bytes(frames[0])[:1], bytes(frames[0])[1:]]):
        y = deserialize(header, received)
        assert (y.shape, y.dtype, y.name, y.tolist()) == (x.shape, x.dtype, x.name, x.tolist())
        del y
    assert dask.sizeof.sizeof(x) == x.nbytes


def test_a_frame_is_no_copy():
    x = ha.array(np.arange(1000.0), name="x")
    _, frames = serialize(x, serializers=["dask"])
    assert np.shares_memory(np.frombuffer(frames[0]), np.asarray(x))
    with pytest.raises(BufferError, match="'x'"):
        x.write()
    del frames
    x.write().close()


def test_what_was_received_gives_way(tmp_path):
    alone(f"""
        from distributed.protocol import deserialize, serialize
        store = harray.dask.Store({str(tmp_path)!r}, "64MiB")
        header, frames = serialize(ha.full(1 << 17, 2.0, name="x"), serializers=["dask"])
        store["x"] = deserialize(header, [memoryview(bytearray(3) + frames[0])[3:]]) # at an odd address
        assert store.evict() == 1 << 20 and store["x"].residency == {{"file:0": "dirty"}}
        assert store["x"].numpy().sum() == 2 << 17
        print("passed")
    """, tmp_path)


def test_a_frame_is_a_copy_where_the_host_has_a_budget():
    x = ha.array(np.arange(1000.0), name="x")
    ha.set_budget("host", "1GiB")
    try:
        header, frames = serialize(x, serializers=["dask"])
    finally:
        ha.set_budget("host", 0)
    x[0] = 7 # nobody has it open
    assert np.frombuffer(frames[0])[:2].tolist() == [0, 1] and deserialize(header, frames).tolist()[999] == 999


def sent(frame, device=0):
    """What UCX does: the bytes of a frame come to new memory on a GPU."""
    told = frame.__cuda_array_interface__
    assert told["typestr"] == "|u1" and told["shape"] == (frame.nbytes,) and distributed.utils.nbytes(frame) == frame.nbytes
    received = cupy.ndarray((frame.nbytes,), "u1", device=device)
    received.set(cupy.asarray(frame).get())
    cupy.synchronize(received.stream, device)
    return received


@pytest.mark.skipif(not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver")
@pytest.mark.parametrize("where", ["cuda:0", "cuda:1"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[1:, ::2], lambda x: x.T, lambda x: x[2, 3, ...]], ids=range(4))
def test_frames_on_a_gpu(where, view):
    device, expected = int(where[-1]), view(np.arange(24.0).reshape(4, 6)) + 1
    x = view(ha.array(np.arange(24.0).reshape(4, 6), name="x"))
    with x.write(where) as v:
        a = cupy.asarray(v, device)
        a.set(a.get() + 1)
    header, frames = serialize(x, serializers=["cuda", "dask"])
    assert header["serializer"] == "cuda" and len(frames) == 1
    received = sent(frames[0], device)
    class Buffer: # pylint: disable=too-few-public-methods
        """As RMM's, which has no stream."""
        __cuda_array_interface__ = {"data": (received.pointer, False), "shape": (received.span,), "strides": None, "typestr": "|u1", "version": 0}
    y = deserialize(header, [Buffer()])
    assert y.residency == {where: "dirty"} and y.shape == x.shape and y.name == "x" and y.dtype == "float64"
    received.set(0)
    cupy.synchronize(received.stream, device)
    del received
    assert (y.numpy() == expected).all() and (x.numpy() == expected).all()


@pytest.mark.skipif(not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver")
def test_a_frame_on_a_gpu_is_the_memory_itself():
    x, gpu = ha.full(6, 2.0, name="x"), ha.context("cuda:0")
    with x.write(gpu) as v:
        address = v.pointer
        cupy.asarray(v).set(3.0)
    before = x.statistics
    _, frames = serialize(x, serializers=["cuda"])
    assert frames[0].__cuda_array_interface__["data"] == (address, True) and x.statistics == before
    with pytest.raises(BufferError, match="'x'"):
        x.write()
    del frames
    x.write().close()


@pytest.mark.skipif(not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver")
def test_what_is_on_no_gpu_has_frames_on_the_host():
    b, none, half = ha.array([1.5], "bfloat16"), ha.zeros((0, 3)), ha.zeros(100)
    for y in (b, none, half[:50]):
        y.write("cuda:0").close()
    assert serialize(half[:50], serializers=["cuda"])[0]["serializer"] == "cuda" # the part that is there
    for y in (ha.zeros(3), b, none, half):
        header, frames = serialize(y, serializers=["cuda", "dask", "pickle"])
        assert header["serializer"] == "dask" and deserialize(header, frames).tolist() == y.tolist()
        with pytest.raises(NotImplementedError, match="not on a GPU"):
            distributed.protocol.cuda.cuda_dumps(y)


def test_tokens_are_of_values():
    tokenize = dask.tokenize.tokenize
    x, y = ha.array([1.0, 2.0]), ha.array([1.0, 2.0], name="other")
    assert tokenize(x) == tokenize(y) != tokenize(ha.array([1.0, 3.0]))
    x.write("sim:0").close()
    assert tokenize(x) == tokenize(y)


def test_a_store_is_a_mapping(tmp_path):
    store = harray.dask.Store(str(tmp_path), "64MiB")
    x, other = ha.zeros(10, name="x"), np.ones(10)
    store["a"], store["b"] = x, other
    assert store["a"] is x and store["b"] is other and len(store) == 2 and set(store) == {"a", "b"} and "a" in store
    store["a"] = 5 # another kind of value in its place
    assert store["a"] == 5 and len(store) == 2
    del store["a"]
    with pytest.raises(KeyError):
        store["a"] # pylint: disable=pointless-statement
    with pytest.raises(KeyError):
        del store["a"]


def test_memory_refuses_what_is_wrong():
    with pytest.raises(TypeError, match="no name of a context"):
        harray.dask.Memory({3: "1GiB"})
    plugin = pickle.loads(pickle.dumps(harray.dask.Memory({"sim:0": "3MiB"})))
    plugin.setup(None)
    assert ha.context("sim:0").pressure["budget"] == 3 << 20
    ha.set_budget("sim:0", 0)
    with pytest.raises(LookupError):
        harray.dask.Memory({"gpu:0": "3MiB"}).setup(None)


def test_a_store_evicts(tmp_path):
    alone(f"""
        store = harray.dask.Store({str(tmp_path / "spill")!r}, "64MiB") if os.mkdir({str(tmp_path / "spill")!r}) is None else None
        assert not store.fast and store.evict() == -1
        for i in range(4):
            store[i] = ha.full((1 << 17,), float(i), name=f"block {{i}}")
        store["other"] = "a text"
        store[0] # used again: 1 is the one of longest ago
        assert store.fast and store.evict() == 1 << 20
        x = store._arrays[1]
        assert x.residency == {{"file:0": "dirty"}}, x.residency
        a = np.asarray(store._arrays[2]) # in use: the next one
        assert store.evict() == 1 << 20 and "host" in store._arrays[2].residency
        assert store._arrays[3].residency == {{"file:0": "dirty"}}
        assert store.evict() == 1 << 20 # 0
        del a
        assert store.evict() == 1 << 20
        assert [store[i].numpy().sum() for i in range(4)] == [i << 17 for i in range(4)]
        for i in range(4):
            del store[i]
        store["part"] = ha.zeros((1 << 20,))[:10] # all that it is a part of goes
        assert store.evict() == 8 << 20
        assert len(os.listdir({str(tmp_path / "spill")!r})) <= 1 # of distributed's own buffer
        print("passed")
    """, tmp_path)


def test_a_cluster_with_less_memory_than_data(tmp_path):
    alone("""
        import time, dask
        from distributed import Client, LocalCluster, wait

        folder = os.path.dirname(os.path.abspath(__file__))

        def make(i):
            with open(f"{folder}/made.py", "a") as file:
                file.write(f"{i}\\n")
            return ha.full((1 << 20,), float(i), name=f"chunk {i}") # 8 MiB

        def die_once(x):
            "In the middle of a task, with what the worker had; the second time it is done."
            try:
                os.close(os.open(f"{folder}/died.py", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return total(x)
            os._exit(1)

        def add(x, y):
            return ha.ops.add(x, y)

        def double(x):
            with x.read("sim:0"):
                pass
            return ha.ops.multiply(x, 2.0, on="sim:0")

        def total(x):
            return ha.ops.sum(x)

        def told(dask_worker):
            store = dask_worker.data
            where = [tuple(sorted(x.residency)) for x in store._arrays.values()]
            return (type(store).__name__, os.getpid(), ha.host.pressure["evictions"], ha.context("sim:0").pressure["budget"],
                    sum("file:0" in w for w in where))

        if __name__ == "__main__":
            dask.config.set({"distributed.worker.memory.terminate": False})
            with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, data=harray.dask.Store, dashboard_address=None,
                              memory_limit="400MiB", local_directory=os.path.dirname(__file__)) as cluster, Client(cluster) as client:
                client.register_plugin(harray.dask.Memory({"sim:0": "24MiB"}))
                made = client.map(make, range(80)) # 640 MiB, of two workers with 400 MiB, of which they need half themselves
                wait(made)
                doubled = client.map(double, made)
                sums = client.map(total, doubled)
                assert client.gather(sums) == [2.0 * i * (1 << 20) for i in range(80)]
                pairs = client.map(add, made[:8], made[72:]) # from one worker to the other
                assert client.gather(client.map(total, pairs)) == [float(2 * i + 72) * (1 << 20) for i in range(8)]
                one = made[3].result()
                assert isinstance(one, ha.Array) and one.name == "chunk 3" and one.numpy()[5] == 3
                answers = client.run(told)
                assert {a[0] for a in answers.values()} == {"Store"} and len({a[1] for a in answers.values()}) == 2
                assert all(a[3] == 24 << 20 for a in answers.values())
                assert sum(a[4] for a in answers.values()) > 0, answers # some are in files
                # A worker dies while it computes, and with it what it alone had: that is computed anew.
                held = client.who_has(made)
                alone = next(i for i in range(80) if len(held[made[i].key]) == 1)
                calls = lambda: open(f"{folder}/made.py").read().split().count(str(alone))
                assert calls() == 1
                died = client.submit(die_once, made[alone], workers=held[made[alone].key], allow_other_workers=True)
                assert died.result() == float(alone) * (1 << 20) and os.path.exists(f"{folder}/died.py")
                assert calls() == 2
                assert client.gather(client.map(total, made, pure=False)) == [float(i) * (1 << 20) for i in range(80)]
                assert len({a[1] for a in client.run(told).values()} | {a[1] for a in answers.values()}) >= 3
            left = [f for _, _, files in os.walk(os.path.dirname(__file__)) for f in files if not f.endswith((".py", ".lock", ".pyc"))]
            assert not left, left
            print("passed")
    """, tmp_path)


def test_dask_arrays_larger_than_memory(tmp_path):
    """Blocks are harray's, and functions of NumPy's and Dask's take them as they are."""
    alone("""
        import dask, dask.array as da
        from distributed import Client, LocalCluster, wait

        ROWS, COLUMNS, STEP = 8192, 256, 512 # 16 blocks of 1 MiB, for two workers with 4 MiB each

        def block(block_info=None):
            (first, last), (left, right) = block_info[None]["array-location"]
            i, j = np.ogrid[first:last, left:right]
            return ha.array((i * 7 + j * 3 + i * j % 5) % 11.0, name="block") # whole numbers: any order of adding gives the same

        def smooth(x):
            x = np.asarray(x)
            return np.concatenate([x[:1], x[:-2] + 2 * x[1:-1] + x[2:], x[-1:]])

        def told(dask_worker):
            kinds = {type(x) for x in dask_worker.data.values()}
            return kinds <= {ha.Array}, len(dask_worker.data), ha.host.pressure["written_back"], ha.host.pressure["restored"], ha.host.memory["live"]

        def same(x, right):
            "As arrays of harray's, which are the store's."
            x = x.map_blocks(ha.array, dtype=x.dtype, meta=np.empty((0, 0))).persist()
            wait(x)
            answers = client.run(told).values()
            assert all(a[0] and a[1] for a in answers) and sum(a[2] for a in answers) >= 8 << 20, answers
            assert all(a[4] <= 4 << 20 for a in answers), answers # the others are in files
            assert (x.compute() == right).all()
            assert (x.sum(axis=0).compute() == right.sum(axis=0)).all()

        if __name__ == "__main__":
            dask.config.set({"distributed.worker.memory.terminate": False})
            with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, data=harray.dask.Store, dashboard_address=None,
                              local_directory=os.path.dirname(__file__)) as cluster, Client(cluster) as client:
                client.register_plugin(harray.dask.Memory({"host": "4MiB"}))
                x = da.map_blocks(block, chunks=((STEP,) * (ROWS // STEP), (COLUMNS,)), dtype="f8", meta=np.empty((0, 0))).persist()
                i, j = np.ogrid[:ROWS, :COLUMNS]
                right = (i * 7 + j * 3 + i * j % 5) % 11.0
                same(x, right)
                assert (da.matmul(x.T, x).compute() == right.T @ right).all()
                same(x.map_overlap(smooth, depth=(1, 0), boundary="periodic", dtype="f8", meta=np.empty((0, 0))),
                     np.roll(right, 1, 0) + 2 * right + np.roll(right, -1, 0))
                for method in ("tasks", "p2p"):
                    same(x.rechunk((ROWS, 16), method=method), right)
                assert sum(a[3] for a in client.run(told).values()) >= 8 << 20 # they came back
            left = [f for _, _, files in os.walk(os.path.dirname(__file__)) for f in files if not f.endswith((".py", ".lock", ".pyc"))]
            assert not left, left
            print("passed")
    """, tmp_path, timeout=300)
