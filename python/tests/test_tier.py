"""Tiers in Python: a store's put, get and delete."""
import gc
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import harray as ha

MIB = 1 << 20


class Store:
    """In a dictionary; each function fails on demand."""

    def __init__(self, **options):
        self.values, self.calls, self.threads, self.fails = {}, [], set(), {}
        self.answers, self.inside, self.keeps = [], None, None
        self.context = ha.Tier(self.put, self.get, self.delete, **options)

    def called(self, name, key):
        self.calls.append((name, key))
        self.threads.add(threading.get_ident())
        if self.fails.get(name, 0):
            self.fails[name] -= 1
            raise OSError(f"no {name} of {key}")

    def put(self, key, view):
        self.called("put", key)
        assert key not in self.values and view.readonly and view.format == "B"
        if self.inside:
            self.inside()
        self.values[key] = bytes(view)
        if self.keeps is True:
            self.keeps = np.frombuffer(view, "u1")

    def get(self, key, view):
        self.called("get", key)
        if self.answers and self.answers[0] != len(view):
            return self.answers.pop()
        view[:] = self.values[key]
        return self.answers.pop() if self.answers else None

    def delete(self, key):
        self.called("delete", key)
        self.values.pop(key, None)


@pytest.fixture(scope="module")
def one():
    return Store(capacity="256MiB", piece=MIB)


@pytest.fixture
def store(one, monkeypatch):
    """The one that all tests share, for contexts stay; what is unraisable in it is in .told."""
    one.told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: one.told.append((u.exc_type, str(u.exc_value))))
    ha.set_tier("host", one.context)
    yield one
    ha.set_budget("host", 0)
    ha.set_tier("host", None)
    one.fails.clear()
    gc.collect()
    ha.trim(one.context, 0)
    assert not settled(one)


def settled(store):
    """The keys that are there when all that was to be done has been."""
    for _ in range(2):
        x = ha.zeros(1)
        x.retrieve(store.context) # is waited for, and so is all before
        del x
    ha.trim(store.context, 0)
    for _ in range(200):
        if not store.values:
            break
        threading.Event().wait(0.01)
    return store.values


def gone(store, value=3.0, size=MIB // 4):
    """An array whose values are in the store alone: two pieces."""
    x = ha.full(size, value, name="field")
    x.defer("host")
    assert x.residency == {store.context.name: "dirty"}
    return x


def test_values_go_and_come_back(store):
    x = gone(store)
    assert [len(v) for v in store.values.values()] == [MIB, MIB]
    assert (np.asarray(x) == 3).all()
    assert store.context.kind == "store" and len(store.threads) == 1 and threading.get_ident() not in store.threads
    assert ha.host.pressure["tier"] == store.context.name and store.told == []


def test_more_than_the_host_has(store):
    ha.set_budget("host", ha.host.memory["handed_out"] + 8 * MIB)
    arrays = [ha.full(MIB // 8, i) for i in range(24)]
    for i, x in enumerate(arrays):
        with x.write() as v:
            memoryview(v).release()
            a = np.asarray(v)
            a += 1
            del a
        assert x[0] == i + 1
    assert [x[5] for x in arrays] == [i + 1 for i in range(24)]
    assert store.told == []


def test_keys_are_used_once(store):
    x = gone(store)
    for i in range(3):
        x[0] = i
        x.defer("host")
    del x
    assert not settled(store)
    puts, deletes = ([key for name, key in store.calls if name == which] for which in ("put", "delete"))
    assert sorted(puts) == puts == sorted(set(puts)) and sorted(deletes) == puts


def test_a_put_fails(store):
    x = ha.full(MIB // 4, 3.0, name="field")
    store.fails["put"] = 1
    with pytest.raises(ha.DeviceError, match=r"the put of 1048576 bytes under key \d+ has failed"):
        x.retrieve(store.context)
    assert x.residency["host"] == "dirty" and (np.asarray(x) == 3).all()
    assert store.told == [(OSError, f"no put of {store.calls[-2][1]}")] and store.calls[-1][0] == "delete"
    store.fails["put"] = 1
    x.defer("host") # is tried again
    assert x.residency == {store.context.name: "dirty"} and (np.asarray(x) == 3).all()


def test_a_get_fails(store):
    x, y = gone(store), gone(store, 4.0)
    store.fails["get"] = 1
    with pytest.raises(ha.DeviceError, match=r"store:\d+: the get of key \d+, of 1048576 bytes, has failed") as caught:
        x.read()
    assert caught.value.status == "HA_ERR_BACKEND" and store.told[0][0] is OSError
    assert (np.asarray(y) == 4).all() and (np.asarray(x) == 3).all()


@pytest.mark.parametrize("answer, error, told", [
    (5, "has given 5 of 1048576 bytes", []), (-1, "has failed", [ValueError]), ("x", "has failed", [TypeError]),
    (2 * MIB, "has given 2097152 of 1048576 bytes", []), (1 << 70, "has failed", [OverflowError])])
def test_too_few_bytes(store, answer, error, told):
    x = gone(store)
    store.answers.append(answer)
    with pytest.raises(ha.DeviceError, match=error):
        x.read()
    assert [kind for kind, _ in store.told] == told
    store.answers.append(MIB)
    assert (np.asarray(x) == 3).all()


def test_memory_that_is_kept(store):
    """It is gone when the function returns: who keeps it has failed."""
    x = ha.full(MIB // 4, 3.0)
    store.keeps = True
    with pytest.raises(ha.DeviceError):
        x.retrieve(store.context)
    store.keeps = None
    assert [kind for kind, _ in store.told] == [BufferError]


def test_arrays_in_its_functions(store):
    """Using one is refused; what the collector ends there is ended all the same."""
    x, accesses = ha.full(MIB // 4, 3.0), []
    class Cycle:
        def __init__(self):
            self.own, self.array = self, ha.zeros(1000, name="late")
            self.access = self.array.read("sim:0")
    def inside():
        gc.collect()
        with pytest.raises(RuntimeError, match="function"):
            ha.zeros(3)
        accesses.append(1)
    before = ha.context("sim:0").memory["live"]
    gc.disable()
    cycle = Cycle()
    del cycle
    store.inside = inside
    x.retrieve(store.context)
    store.inside = None
    gc.enable()
    assert len(accesses) == 2 and store.told == []
    for _ in range(100):
        pass # the main thread runs Python
    ha.trim("sim:0", 0)
    assert ha.context("sim:0").memory["live"] == before


def test_threads(store):
    """Several threads need what is there, and the store's thread the interpreter."""
    ha.set_budget("host", ha.host.memory["handed_out"] + 16 * MIB)
    wrong = []
    def work(number):
        arrays = [ha.full(MIB // 8, 100 * number + i) for i in range(6)]
        for turn in range(30):
            i = turn * 7 % 6
            if not (arrays[i].numpy() == 100 * number + i).all():
                wrong.append((number, i))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads) and store.told == []
    assert any(name == "get" for name, _ in store.calls)


@pytest.mark.parametrize("arguments, error, text", [
    ((1, print, print), TypeError, "put: 1 cannot be called"), ((print, print, None), TypeError, "delete: None"),
    ((print, print), TypeError, "delete")])
def test_mistakes(arguments, error, text):
    with pytest.raises(error, match=text):
        ha.Tier(*arguments)


@pytest.mark.parametrize("options, error, text", [
    ({"piece": 4095}, ValueError, "4096"), ({"capacity": "17TiB"}, ValueError, "16 TiB"), ({"piece": "x"}, ValueError, "bytes"),
    ({"capacity": -1}, ValueError, "bytes"), ({"piece": 1 << 62}, MemoryError, "store")])
def test_mistakes_in_options(options, error, text):
    count = sys.getrefcount(print)
    with pytest.raises(error, match=text):
        ha.Tier(print, print, print, **options)
    assert sys.getrefcount(print) == count


def run(program):
    """Another interpreter with a program: its output."""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


PROGRAM = """
    import harray as ha, time, threading
    values = {}
    def put(key, view): values[key] = bytes(view)
    def get(key, view): view[:] = values[key]
    def delete(key): print("delete", key, flush=True); del values[key]
    tier = ha.Tier(put, get, delete, piece="1MiB")
    ha.set_tier("host", tier)
    x = ha.full(1 << 17, 1.0)
    x.defer("host")
"""


# Another thread gets the values of x, until it goes on.
SLOW = """
    import harray as ha, os, signal, threading, time
    from harray import ops
    signal.signal(signal.SIGINT, signal.default_int_handler) # which who was started in the background does not have
    begun, goes_on, values = threading.Event(), threading.Event(), {}
    def put(key, view): values[key] = bytes(view)
    def get(key, view):
        begun.set()
        goes_on.wait()
        view[:] = values[key]
    ha.set_tier("host", ha.Tier(put, get, values.pop))
    x, y = ha.full(1 << 17, 1.0, name="x"), ha.zeros(1 << 17)
    x.defer("host")
    reader = threading.Thread(target=lambda: bytes(x.read()))
    reader.start()
    begun.wait()
"""


@pytest.mark.parametrize("hint", ["x.done('host')", "x.done()", "x.set_priority(1)", "x.residency", "x.statistics", "repr(x)"])
def test_hints_while_a_tier_works(hint):
    """Its functions need the GIL: whoever asks meanwhile does not wait for the array with it."""
    assert run(SLOW + f"""
    threading.Timer(0.2, goes_on.set).start()
    {hint}
    goes_on.wait()
    reader.join()
    print("passed")
    """) == "passed\n"


@pytest.mark.parametrize("call", ["x.read()", "x.read(wait=False)", "x.copy()", "x.retrieve('host')", "ha.open_all((x, 'read'))",
                                  "memoryview(x)", "y.__setitem__(..., x)", "x[0]", "float(x[:1])", "ops.sum(x)", "ops.add(x, 1)"])
def test_ctrl_c_while_a_tier_works(call):
    """The one exception that a signal makes, at once or when the tier is done, and nothing stays open or in the way."""
    assert run(SLOW + f"""
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    threading.Timer(0.6, goes_on.set).start()
    try:
        {call}
        time.sleep(10)
    except KeyboardInterrupt:
        print("interrupted")
    except BlockingIOError:
        try:
            time.sleep(10)
        except KeyboardInterrupt:
            print("interrupted")
    goes_on.set()
    reader.join()
    with x.write(), y.write():
        print("passed", ha.exports())
    """) == "interrupted\npassed []\n"


@pytest.mark.parametrize("kept", ["", "; del x"])
def test_nothing_is_left_at_the_end(kept):
    assert run(PROGRAM + f"    assert len(values) == 1{kept}\n") == "delete 1\n"


def test_the_end_waits_for_it_no_longer_than_it_may():
    program = PROGRAM + """
    from harray import _harray
    _harray._set_patience(0.3)
    def hangs(key, view): begun.set(); time.sleep(1000)
    begun = threading.Event()
    other = ha.Tier(hangs, get, delete)
    y = ha.full(10, 1.0)
    threading.Thread(target=lambda: y.retrieve(other), daemon=True).start()
    begun.wait()
    """
    assert "harray: a function of a tier has not returned in 0 s, and is left" in run(program)


def test_the_end_waits_for_it():
    program = PROGRAM + """
    def slow(key, view): begun.set(); time.sleep(0.3); put(key, view); print("put", key, flush=True)
    begun = threading.Event()
    other = ha.Tier(slow, get, lambda key: print("deleted", key, flush=True))
    y = ha.full(10, 1.0)
    threading.Thread(target=lambda: y.retrieve(other), daemon=True).start()
    begun.wait()
    """
    assert run(program).split("\n")[:1] == ["put 1"]


def test_below_the_file(tmp_path):
    """The host, then a file, and a store below that: each has room for some, and the store's thread is given what the file gives away."""
    assert run(f"""
    import harray as ha
    values, calls = {{}}, []
    def put(key, view): calls.append("put"); values[key] = bytes(view)
    def get(key, view): calls.append("get"); view[:] = values[key]
    tier = ha.Tier(put, get, values.pop, capacity="64MiB", piece="256KiB")
    ha.configure_file({str(tmp_path)!r}, "4MiB")
    ha.set_tier("host", "file:0")
    ha.set_tier("file:0", tier)
    assert (ha.host.pressure["tier"], ha.context("file:0").pressure["tier"]) == ("file:0", "store:0")
    for wrong in (("file:0", "host"), (tier, "file:0"), (tier, "host")):
        try:
            ha.set_tier(*wrong)
        except ValueError as error:
            print(error)
    ha.set_budget("host", ha.host.memory["handed_out"] + (4 << 20))
    made = [ha.full(1 << 17, float(i), name=f"block {{i}}") for i in range(16)]
    where = [set(x.residency) for x in made]
    assert {{"store:0"}} in where and {{"file:0"}} in where and "put" in calls and "get" not in calls, where
    for turn in range(2):
        for i, x in enumerate(made):
            assert x[7] == i + turn
            x[...] = i + turn + 1
    assert "get" in calls
    x = made[0]
    x.defer("host")
    x.defer("file:0")
    assert x.residency == {{"store:0": "dirty"}} and x.tolist() == [2.0] * (1 << 17)
    del made, x
    """) == "".join(f"{memory}: its next tier cannot be {tier}: values would come back from there\n"
                    for memory, tier in (("file:0", "host"), ("store:0", "file:0"), ("store:0", "host")))
