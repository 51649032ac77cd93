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


START = '''
import os, sys, numpy as np, harray as ha, harray.dask

def files_of(dask_worker):
    """Names of files that would stay if the worker were killed now, but those of distributed's buffer and its locks; and how
    many bytes are in files without a name, which would not."""
    folder = dask_worker.local_directory
    names = {name for _, _, files in os.walk(folder) for name in files if not name.endswith(".lock")}
    buffer, unnamed = dask_worker.data._others._slow_uncached.d, 0
    for number in os.listdir("/proc/self/fd"):
        try:
            place, size = os.readlink(f"/proc/self/fd/{number}"), os.stat(f"/proc/self/fd/{number}").st_blocks * 512
        except OSError: # it was that of the list
            continue
        unnamed += size if place.startswith(folder) and place.endswith("(deleted)") else 0
    return names - set(buffer.filenames.values()), unnamed
'''


def alone(program, tmp_path, timeout=100):
    """A program in an interpreter of its own."""
    file = tmp_path / "program.py"
    file.write_text(START + textwrap.dedent(program), encoding="utf-8")
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
        assert not os.listdir({str(tmp_path / "spill")!r}) # what was there had no name
        print("passed")
    """, tmp_path)


def test_a_store_evicts_other_values(tmp_path):
    """As distributed's own buffer does: to files, where there is no array on the host."""
    alone(f"""
        import threading
        spill = {str(tmp_path / "spill")!r}
        os.mkdir(spill)
        def files():
            return [os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(spill) for name in names]
        store = harray.dask.Store(spill, "64MiB")
        store["array"], store["other"], store["text"] = ha.full(1 << 17, 1.0), np.arange(1 << 17, dtype="f8"), "a text"
        assert store.evict() == 1 << 20 and not files() # the array first, whose file has no name
        assert set(store._others.fast) == {{"other", "text"}} and store.fast
        assert store.evict() == 1 << 20 and set(store._others.fast) == {{"text"}} and sum(files()) >= 1 << 20
        assert store.evict() > 0 and not store._others.fast and not store.fast and store.evict() == -1
        assert len(files()) == 2 and len(store) == 3 and "other" in store
        read = store._others.slow.data.load # of files
        store._others.slow.data.load = lambda *_: sys.exit("what is replaced is not read")
        store["text"] = "another"
        store._others.slow.data.load = read
        assert store["text"] == "another" and len(files()) == 1
        assert (store["other"] == np.arange(1 << 17)).all() and store["array"].numpy().sum() == 1 << 17
        del store["other"], store["text"]
        assert not files()
        del store["array"]
        store["lock"] = threading.Lock() # which nobody can bring to a file
        assert store.fast and store.evict() == -1 and store["lock"] and not files()
        print("passed")
    """, tmp_path)


def test_what_was_evicted_is_the_system_s(tmp_path):
    """Arrays of a size that the C library gets from its heap."""
    alone(f"""
        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        store = harray.dask.Store({str(tmp_path)!r}, "256MiB")
        for i in range(1024):
            store[i] = ha.full(1 << 13, float(i)) # 64 KiB
        live, before = ha.host.memory["live"], resident()
        assert live >= 64 << 20
        assert sum(store.evict() for _ in range(1024)) == 64 << 20 and not store.fast
        assert ha.host.memory["live"] == live - (64 << 20) and ha.host.memory["cached"] == 0
        assert before - resident() > 48 << 20, (before, resident())
        assert [store[i].numpy()[7] for i in range(1024)] == list(range(1024))
        print("passed")
    """, tmp_path)


@pytest.mark.parametrize("where", ["sim:0", pytest.param("cuda:0", marks=pytest.mark.skipif(
    not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver"))])
def test_what_is_in_a_file_is_sent_without_the_device(tmp_path, where):
    alone(f"""
        from distributed.protocol import deserialize, serialize
        store, gpu = harray.dask.Store({str(tmp_path)!r}, "64MiB"), ha.context({where!r})
        store["x"] = x = ha.full(1 << 17, 1.0, name="x")
        with x.write(gpu):
            pass
        x.defer(gpu) # to the host
        assert store.evict() == 1 << 20 and x.residency == {{"file:0": "dirty"}}, x.residency
        live, restored = gpu.memory["live"], gpu.pressure["restored"]
        header, frames = serialize(x, serializers=["cuda", "dask"])
        assert header["serializer"] == "dask" and set(x.residency) == {{"file:0", "host"}}
        y = deserialize(header, [bytearray(frames[0])])
        assert y.name == "x" and y.numpy().sum() == 1 << 17 and {where!r} not in {{*x.residency, *y.residency}}
        assert (gpu.memory["live"], gpu.pressure["restored"]) == (live, restored)
        print("passed")
    """, tmp_path)


def test_threads_of_a_worker(tmp_path):
    """Two tasks at once, each with arrays that are in the file: one may have to wait for room, both come to their end."""
    alone("""
        import threading
        from distributed import Client, LocalCluster, get_worker

        def prepare(dask_worker):
            dask_worker.barrier, dask_worker.seen = threading.Barrier(2), set()

        def add(x, y):
            worker = get_worker()
            worker.barrier.wait(60) # until there is another one
            worker.seen.add(threading.get_ident())
            with ha.open_all((x, "read"), (y, "read")) as (a, b):
                total = np.asarray(a) + np.asarray(b)
            return ha.array(total, name="sum") # which waits for memory as long as this thread has nothing open

        def told(dask_worker):
            pressure = ha.host.pressure
            return len(dask_worker.seen), pressure["written_back"], pressure["restored"], ha.host.memory["live"]

        if __name__ == "__main__":
            with LocalCluster(n_workers=1, threads_per_worker=2, processes=True, data=harray.dask.Store, dashboard_address=None,
                              local_directory=os.path.dirname(__file__)) as cluster, Client(cluster) as client:
                client.register_plugin(harray.dask.Memory({"host": "8MiB"}))
                client.run(prepare)
                made = client.map(lambda i: ha.full(1 << 17, float(i)), range(24)) # 1 MiB each
                sums = client.map(add, made[:12], made[12:])
                assert [x.numpy()[5] for x in client.gather(sums)] == [2.0 * i + 12 for i in range(12)]
                [(threads, written, restored, live)] = client.run(told).values()
                assert threads == 2 and written >= 8 << 20 and restored >= 8 << 20 and live <= 8 << 20, (written, restored, live)
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
                left = client.run(files_of).values() # by a worker that is killed, as one is below
                assert not any(names for names, _ in left) and sum(unnamed for _, unnamed in left) >= 8 << 20, left
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
                left = client.run(files_of).values()
                assert not any(names for names, _ in left) and sum(unnamed for _, unnamed in left) >= 1 << 20, left
            print("passed")
    """, tmp_path, timeout=300)
