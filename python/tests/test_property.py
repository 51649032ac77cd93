"""Random programs of views, accesses, exports and moves, each of which NumPy does as well: the values have to be the same, and
what is exported keeps what would change it from happening. Seeds are fixed. HARRAY_TEST_LONG=1 in the environment: more."""
import copy
import gc
import io
import os
import pickle
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import fake_cupy as cupy
import harray as ha

IS_LONG = bool(os.environ.get("HARRAY_TEST_LONG"))
SEEDS, STEPS = (range(400), 200) if IS_LONG else (range(24), 60)
TYPES = ["f8", "i8", "i2", "f4", "c16", "u1"]
ADDED = ["float64", "int64", "float32", "complex128"] # the operations are there for these
GPUS = ["cuda:0", "cuda:1"] if cupy.IS_THERE else []


class Interface: # pylint: disable=too-few-public-methods
    """Nothing but the dictionary."""

    def __init__(self, access):
        self.__array_interface__, self.access = access.__array_interface__, access


# ---- how values are looked at and written by others, for each place


def by_buffer(access):
    return np.asarray(memoryview(access))


def by_interface(access):
    return np.asarray(Interface(access))


def by_dlpack(access):
    return np.from_dlpack(access)


HOST = [by_buffer, by_interface, by_dlpack, np.asarray]


def on_gpu(access, how):
    """A GPU's array of an access."""
    number = access.context.number
    if how == 0:
        return cupy.asarray(access, number)
    stream = access.stream if how == 1 or number else 1 # the fake has a default stream of the first device only
    return cupy.from_dlpack(access, stream, max_version=(1, 0))


def to_numpy(x, **more):
    """NumPy has to say that it wants it on the host, where a GPU has the values."""
    return np.from_dlpack(x, device="cpu", **more)


READERS = {
    "asarray": np.asarray, "numpy": lambda x: x.numpy(), "memoryview": lambda x: np.asarray(memoryview(x)), "from_dlpack": to_numpy,
    "a copy by dlpack": lambda x: to_numpy(x, copy=True), "tolist": lambda x: np.array(x.tolist(), x.dtype).reshape(x.shape),
    "pickle 5": lambda x: pickle.loads(pickle.dumps(x, 5)).numpy(), "pickle 2": lambda x: pickle.loads(pickle.dumps(x, 2)).numpy(),
    "copy": lambda x: copy.copy(x).numpy(), "deepcopy": lambda x: copy.deepcopy(x).numpy(), "x.copy": lambda x: x.copy().numpy(),
    "bytes": lambda x: np.frombuffer(memoryview(x).tobytes(), x.dtype).reshape(x.shape), "array": lambda x: ha.array(x).numpy(),
    "from_dlpack of ours": lambda x: ha.array(to_numpy(x), copy=True).numpy(), "another thread": lambda x: elsewhere(x.numpy),
}


def out_of_band(x):
    """Protocol 5: the frames of it are looked at where they are."""
    frames = []
    data = pickle.dumps(x, 5, buffer_callback=frames.append)
    return pickle.loads(data, buffers=frames).numpy()


def saved(x):
    """Through a file of NumPy's."""
    file = io.BytesIO()
    np.save(file, np.asarray(x))
    file.seek(0)
    return np.load(file)


READERS.update({"pickle out of band": out_of_band, "np.save": saved})


def elsewhere(function):
    """What a function gives on another thread."""
    got = []
    thread = threading.Thread(target=lambda: got.append(function()))
    thread.start()
    thread.join()
    return got[0]


class Program:
    """A number of arrays and of views of them, each with NumPy's. What NumPy made of a view shows the same memory as its array."""

    def __init__(self, seed, places):
        self.random, self.places = random.Random(seed), places
        self.pairs = [] # (root's number, harray's, NumPy's)
        self.whole = {} # harray's, by the root's number
        self.kept = [] # (root's number, what is exported for reading, the values that it has to have)
        self.roots, self.told = 0, [f"seed {seed}"]
        self.make()

    def tell(self, *words):
        self.told.append(" ".join(map(str, words)))

    def values(self, shape, dtype):
        n = int(np.prod(shape))
        return np.array([self.random.randrange(100) for _ in range(n)], "i8").reshape(shape).astype(dtype)

    def make(self):
        shape = tuple(self.random.randrange(0 if self.random.random() < 0.1 else 1, 7) for _ in range(self.random.randrange(4)))
        dtype = self.random.choice(TYPES)
        a = self.values(shape, dtype)
        if self.random.random() < 0.3:
            a = np.asfortranarray(a)
        how = self.random.randrange(5 if a.size else 1)
        x = [lambda: ha.array(a, copy=True), lambda: ha.wrap(a.copy(order="A")), lambda: ha.from_dlpack(a.copy(order="A")),
             lambda: ha.wrap(Interface(ha.array(a).write())), lambda: pickle.loads(pickle.dumps(ha.array(a)))][how]()
        self.tell("make", self.roots, shape, dtype, how)
        self.whole[self.roots] = x
        self.pairs.append((self.roots, x, a.copy(order="A" if how in (1, 2) else "C")))
        self.roots += 1

    # ---- views

    def index(self, shape):
        parts = []
        for n in shape:
            kind = self.random.randrange(4)
            if kind == 0 and n:
                parts.append(self.random.randrange(-n, n))
            elif kind == 1:
                parts.append(slice(None))
            else:
                low, high = (self.random.choice([None, self.random.randrange(-n - 1, n + 2)]) for _ in range(2))
                parts.append(slice(low, high, self.random.choice([None, 1, 2, -1, -2, 3])))
            if self.random.random() < 0.1:
                parts.append(None)
        if self.random.random() < 0.2:
            place = self.random.randrange(len(parts) + 1)
            parts[place:] = [...] if self.random.random() < 0.5 else [..., *parts[place + 1:]][:1]
        return tuple(parts)

    def view(self, root, x, a):
        kind = self.random.randrange(8)
        if kind < 4:
            index = self.index(a.shape)
            if len([i for i in index if i is not None and i is not ...]) == a.ndim and all(isinstance(i, int) for i in index):
                assert x[index] == a[index] and isinstance(x[index], (int, float, complex))
                return
            made = x[index], a[index]
            self.tell("view", root, index)
        elif kind == 4:
            made = x.T, a.T
        elif kind == 5 and a.ndim:
            axis = self.random.randrange(a.ndim)
            made = x.flip(axis), np.flip(a, axis)
        elif kind == 6 and a.ndim > 1:
            order = self.random.sample(range(a.ndim), a.ndim)
            made = x.transpose(*order), a.transpose(order)
        elif kind == 7 and a.size:
            shape = self.random.choice([(-1,), (a.size,), (1, -1), (-1, a.shape[0] if a.ndim else 1)])
            try:
                made = x.reshape(*shape), a.reshape(shape)
            except ValueError: # it never copies
                assert not np.shares_memory(a.reshape(shape), a), (shape, a.strides, x.strides, x)
                return
            assert np.shares_memory(made[1], a)
        else:
            return
        assert made[0].shape == made[1].shape and made[0].id == x.id
        if made[1].ndim <= 6:
            self.pairs.append((root, *made))

    # ---- looking and writing

    def compare(self, x, a, what):
        assert x.shape == a.shape and (x == a).all() and x.dtype == a.dtype, f"{what}: {x} is not {a}"

    def look(self, _, x, a):
        place = self.random.choice(self.places)
        if place in GPUS:
            how = self.random.randrange(3)
            self.tell("read", place, how)
            with x.read(place) as access:
                got = on_gpu(access, how)
                self.compare(got.get(), a, place)
                del got
        elif place == "host":
            with x.read() as access:
                how = self.random.choice(HOST)
                self.compare(how(access), a, how.__name__)
        else:
            if x.dtype in ADDED:
                self.compare(ha.ops.add(x, 0, on=place).numpy(), a, place)
            with x.read(place) as access:
                assert access.shape == a.shape
        name = self.random.choice(list(READERS))
        self.tell("look", name)
        self.compare(READERS[name](x), a, name)

    def keep(self, root, x, a):
        """Something is exported for reading, and stays for a while."""
        how = self.random.choice([np.asarray, to_numpy, memoryview])
        self.tell("keep", root)
        self.kept.append((root, how(x), a.copy()))

    def write(self, root, x, a):
        kept = [k for k in self.kept if k[0] == root]
        if kept and a.size:
            if any(k[2].size for k in kept):
                with pytest.raises(BufferError):
                    self.whole[root].write(self.random.choice(self.places))
            for _, exported, values in kept:
                self.compare(np.asarray(exported), values, "what was kept")
            self.kept = [k for k in self.kept if k[0] != root]
            del kept, exported
        place, overwrites = self.random.choice(self.places), self.random.random() < 0.4
        new = self.values(a.shape, a.dtype) if overwrites else (a + self.random.randrange(9)).astype(a.dtype)
        self.tell("write", root, place, "overwrite" if overwrites else "add")
        if place != "host" and place not in GPUS:
            self.write_there(x, a, new, place, overwrites)
        else:
            with (x.overwrite if overwrites else x.write)(place) as access:
                self.write_by_others(access, a, new, overwrites)
        a[...] = new

    def write_by_others(self, access, a, new, overwrites):
        if access.context.name in GPUS:
            got = on_gpu(access, self.random.randrange(3))
            if not overwrites:
                self.compare(got.get(), a, "before writing")
            got.set(new)
        else:
            got = self.random.choice(HOST)(access)
            if not overwrites:
                self.compare(got, a, "before writing")
            got[...] = new
        del got # or the access would stay open

    def write_there(self, x, a, new, place, overwrites):
        if not overwrites and a.size and x.dtype in ADDED:
            with ha.on(place):
                ha.ops.add(x, int(np.real(new.flat[0] - a.flat[0])), x, on=place)
        elif not a.ndim:
            x[()] = new.item()
        else:
            y = ha.array(new, ctx=place)
            x[...] = y
            with x.write(place) as access:
                assert access.context.name == place

    def move(self, _, x, __):
        """Nothing that anybody may notice."""
        place = self.random.choice(self.places)
        self.tell("move", place)
        if self.random.random() < 0.7:
            self.random.choice([lambda: x.retrieve(place), lambda: x.done(place), x.sync])()
            return
        try:
            x.defer(place)
        except BufferError: # it is exported
            assert self.kept
        except RuntimeError as error: # there is no tier behind the host
            assert "caller's" in str(error) or "valid nowhere else" in str(error)

    def assign(self, root, x, a):
        if any(k[0] == root for k in self.kept) or not a.size:
            return
        index = self.index(a.shape)
        value = self.random.randrange(100)
        if self.random.random() < 0.4:
            value = self.values(a[index].shape, a.dtype)
        self.tell("assign", root, index)
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value.item()
        x[index] = value
        a[index] = value

    def forget(self, *_):
        if len(self.pairs) > 6:
            del self.pairs[self.random.randrange(len(self.pairs))]
            roots = {p[0] for p in self.pairs}
            self.kept = [k for k in self.kept if k[0] in roots]
            self.whole = {k: x for k, x in self.whole.items() if k in roots}
            gc.collect(0)

    def run(self, steps):
        acts = [self.view] * 5 + [self.look] * 5 + [self.write] * 6 + [self.keep, self.move, self.move, self.assign, self.assign, self.forget]
        for _ in range(steps):
            if self.random.random() < 0.04:
                self.make()
            self.random.choice(acts)(*self.random.choice(self.pairs))
        for _, exported, values in self.kept:
            self.compare(np.asarray(exported), values, "what was kept")
        for _, x, a in self.pairs:
            self.compare(x.numpy(), a, "in the end")


def run(seed, places):
    """One program; what it did is in the message when it fails."""
    program = Program(seed, places)
    try:
        program.run(STEPS)
    except BaseException as error:
        error.add_note("\n".join(program.told))
        raise


@pytest.mark.parametrize("seed", SEEDS)
def test_on_host_and_sim(seed):
    run(seed, ["host", "sim:0", "sim:1"])
    gc.collect()
    assert not ha.exports()


@pytest.mark.skipif(not GPUS, reason="HARRAY_CUDA does not name the repository's fake driver")
@pytest.mark.parametrize("seed", SEEDS)
def test_on_fake_cuda(seed):
    run(1000 + seed, ["host", "sim:0", *GPUS])
    gc.collect()
    assert not ha.exports() and not cupy.live


def run_elsewhere(places, **environment):
    """In an interpreter of its own, as devices stay as they are found."""
    program = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_property; test_property.run_all({places})"
    return subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **environment})


def run_all(places):
    """What the subprocess does."""
    for place in places:
        try:
            ha.context(place)
        except (LookupError, RuntimeError) as error:
            print("skipped:", error)
            return
    for seed in SEEDS:
        run(2000 + seed, places)
    print("passed")


@pytest.mark.parametrize("options", ["unified=1", "delay=20us,seed=3", "capacity=64K,devices=2"])
def test_on_other_devices(options):
    done = run_elsewhere(["host", "sim:0", "sim:1"], HARRAY_SIM=options, HARRAY_ZERO_COPY=str(int("unified" in options)))
    assert done.returncode == 0 and done.stdout == "passed\n", done.stdout + done.stderr


@pytest.mark.parametrize("options", ["", "memory=usm"])
def test_on_opencl(options):
    done = run_elsewhere(["host", "sim:0", "opencl:0"], HARRAY_OPENCL=options)
    if done.stdout.startswith("skipped:"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0 and done.stdout == "passed\n", done.stdout + done.stderr
