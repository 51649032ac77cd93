"""Memory that is short: budgets, hints, tiers, and a controller. Each in a process of its own, as they change what all
arrays share."""
import functools
import inspect
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import harray as ha


def alone(function):
    """The test runs in an interpreter of its own, which has the names of this file."""
    source = inspect.getsource(function).split("\n", 1)[1] # without the decorator
    def test(tmp_path):
        program = (f"import collections, gc, sys, threading, time\nimport numpy as np\nimport pytest\nimport harray as ha\nMIB = 1 << 20\n"
                   f"{textwrap.dedent(inspect.getsource(blocks))}\n{source}\nimport pathlib\n"
                   f"{function.__name__}(pathlib.Path({str(tmp_path)!r}))\nprint('passed')")
        done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=100,
                              check=False)
        assert done.stdout.endswith("passed\n") and done.returncode == 0, done.stdout + done.stderr
    functools.update_wrapper(test, function)
    del test.__wrapped__
    return test


def blocks(count, mib=1, where=None):
    """Arrays of so many MiB each, with their number as values."""
    made = [ha.empty((mib, 1 << 17), name=f"block {i}") for i in range(count)]
    for i, x in enumerate(made):
        x[...] = i
        if where:
            x.retrieve(where)
    return made


@alone
def test_budgets_hold(tmp_path):
    gpu = ha.context("sim:0")
    for text, number in (("3MiB", 3 * MIB), ("3 M", 3 * MIB), (3 * MIB, 3 * MIB), ("0.5g", 512 * MIB), ("1e6", 10 ** 6), ("3MB", 3 * MIB)):
        ha.set_budget(gpu, text)
        assert gpu.pressure["budget"] == number
    for wrong, error in (("3 apples", ValueError), ("", ValueError), (-1, ValueError), (2.5, TypeError), ("-3M", ValueError)):
        with pytest.raises(error):
            ha.set_budget(gpu, wrong)
    ha.set_budget(gpu, "3MiB")
    made = blocks(8)
    for _ in range(3):
        for x in made:
            ha.ops.add(x, 1, x, on=gpu)
            x.done(gpu)
    assert [x[0, 7] for x in made] == [i + 3 for i in range(8)]
    pressure = gpu.pressure
    assert pressure["evictions"] and pressure["restored"] and pressure["tier"] == "host"
    assert gpu.memory["high_water"] <= 3 * MIB
    with pytest.raises(MemoryError, match="'big'"):
        ha.zeros((4, 1 << 17), name="big").write(gpu)
    v = made[0].write(gpu)
    with pytest.raises(MemoryError, match="block 0"):
        ha.set_budget(gpu, MIB // 2)
    v.close()
    assert ha.make_room(gpu, 3 * MIB) and gpu.memory["handed_out"] == 0


@alone
def test_defer_retrieve_done(tmp_path):
    gpu = ha.context("sim:0")
    x = blocks(1)[0]
    x.write(gpu).close()
    assert x.residency == {"host": "stale", "sim:0": "dirty"}
    x.defer()
    assert x.residency == {"host": "dirty"}
    x.retrieve(gpu)
    assert x.residency == {"host": "clean", "sim:0": "clean"}
    x[:, :10].write(gpu).close()
    assert x.residency == {"host": "part", "sim:0": "dirty"}
    x.defer(gpu)
    with pytest.raises(RuntimeError, match="'block 0'.*nowhere else"):
        x.defer("host")
    with x.write(gpu), pytest.raises(BufferError, match="'block 0'"):
        x.defer(gpu)
    with pytest.raises(LookupError):
        x.retrieve("sim:99")


@alone
def test_what_trim_gives_back(tmp_path):
    gpu = ha.context("sim:0")
    made = blocks(4, where=gpu)
    gpu.finish()
    assert ha.trim(gpu, 0) == 0 and gpu.memory["handed_out"] == gpu.memory["live"] == 4 * MIB
    del made[1:]
    gpu.finish()
    assert ha.trim(gpu, MIB) == 2 * MIB and gpu.memory["cached"] == MIB
    assert ha.trim(gpu, 0) == MIB and gpu.memory["handed_out"] == gpu.memory["live"] == MIB


@alone
def test_who_gives_way_first(tmp_path):
    """The one that was used longest ago; of a lower priority before that; and what is done with before all."""
    gpu = ha.context("sim:0")
    ha.set_budget(gpu, "3MiB")
    def there(made):
        return [x.name for x in made if "sim:0" in x.residency]
    def after(*hints):
        made = blocks(4)
        for x in made[:3]:
            x.write(gpu).close()
        for number, hint in hints:
            hint(made[number])
        made[3].write(gpu).close()
        assert there(made[3:]) and [x[0, 0] for x in made] == [0, 1, 2, 3]
        gone = [i for i in range(3) if "sim:0" not in made[i].residency]
        del made
        gc.collect()
        return gone
    assert after() == [0]
    assert after((1, lambda x: x.set_priority(-2))) == [1]
    assert after((0, lambda x: x.set_priority(2))) == [1]
    assert after((0, lambda x: x.set_priority(ha.KEEP)), (1, lambda x: x.set_priority(1))) == [2]
    assert after((0, lambda x: x.set_priority(2)), (0, lambda x: x.set_priority(0))) == [0]
    assert after((2, lambda x: x.done(gpu))) == [2]
    assert after((1, lambda x: x.done())) == [1] # where its values are
    assert after((2, lambda x: x.done("host"))) == [0] # which says nothing of the device
    assert after((2, lambda x: x.done(gpu)), (1, lambda x: x.done(gpu))) == [2] # in the order of the calls
    x = ha.zeros(3)
    for wrong in (3, -3, ha.KEEP + 1, 1 << 40):
        with pytest.raises(ValueError):
            x.set_priority(wrong)
    with pytest.raises(TypeError):
        x.set_priority("high")


@alone
def test_values_are_written_back_ahead(tmp_path):
    gpu = ha.context("sim:0")
    ha.set_budget(gpu, "4MiB")
    made = blocks(6)
    def used(*numbers):
        for i in numbers:
            made[i].write(gpu).close()
        return gpu.pressure["written_back"], gpu.pressure["evictions"], [made[i].residency["host"] for i in numbers]
    assert used(0, 1, 2) == (0, 0, ["stale"] * 3)
    for x in made:
        x.defer(gpu)
    before = gpu.pressure["evictions"], gpu.pressure["written_back"]
    ha.set_watermark(gpu, 0.25)
    written, evictions, states = used(3, 4, 5)
    assert (written - before[1], evictions - before[0]) == (2 * MIB, 0) and states == ["clean", "clean", "stale"]
    ha.set_watermark(gpu, 1)
    assert used(3)[0] == written and [x[0, 0] for x in made] == list(range(6))
    for wrong in (-0.5, 1.5, float("nan")):
        with pytest.raises(ValueError, match="a part is 0 to 1"):
            ha.set_watermark(gpu, wrong)


@alone
def test_a_file_behind_the_host(tmp_path):
    with pytest.raises(ha.DeviceError) as caught:
        ha.configure_file(tmp_path / "none")
    assert caught.value.status == "HA_ERR_BACKEND" and caught.value.code and "ha_file" in caught.value.operation
    ha.configure_file(tmp_path, "64MiB")
    ha.set_tier("host", "file:0")
    assert ha.host.pressure["tier"] == "file:0"
    ha.set_budget("host", "4MiB")
    made = blocks(12)
    assert [x[0, 3] for x in made] == list(range(12)) and [x.numpy().sum() for x in made] == [i << 17 for i in range(12)]
    assert ha.host.pressure["evictions"] and not list(tmp_path.iterdir())
    made[0].defer("host")
    assert made[0].residency == {"file:0": "dirty"} and made[0].name in repr(made[0])
    a = np.asarray(made[0]) # comes back
    assert a.sum() == 0
    with pytest.raises(ValueError):
        ha.set_tier("file:0", "host")


@alone
def test_a_controller(tmp_path):
    gpu, told = ha.context("sim:0"), []
    class Watch(ha.Controller):
        def pressure(self, where, need, attempt):
            told.append(("pressure", where.name, need, attempt))
            return attempt == 1 and bool(spare) and not spare.clear()
        def choose(self, where, candidates, need):
            told.append(("choose", [c.name for c in candidates]))
            assert all(c.nbytes == MIB and c.priority == 0 and not c.is_done for c in candidates)
            return max(candidates, key=lambda c: c.id) # the youngest
        def allocated(self, array): told.append(("allocated", array.nbytes))
        def freed(self, array): told.append(("freed", array.name))
        def deferred(self, array, source, target): told.append(("deferred", array.name, source, target, ha.by_id(array.id).name))
        def retrieved(self, array, target): told.append(("retrieved", array.name, target))
    spare = []
    ha.set_budget(gpu, "3MiB")
    ha.set_controller(Watch())
    made = blocks(4)
    assert ("allocated", MIB) in told
    told.clear()
    for x in made:
        x.write(gpu).close()
    assert told == [("pressure", "sim:0", MIB, 1), ("choose", ["block 0", "block 1", "block 2"]),
                    ("deferred", "block 2", "sim:0", "host", "block 2")]
    told.clear()
    spare.append(ha.zeros((1, 1 << 17), name="spare", ctx=gpu)) # one more gives way
    told.clear()
    made[2].read(gpu).close() # freed by the controller itself
    assert ("pressure", "sim:0", MIB, 1) in told and ("freed", "spare") in told and not spare
    assert [k for k in told if k[0] in ("deferred", "choose")] == []
    assert ("retrieved", "block 2", "sim:0") in told
    name = made.pop().name
    del x
    gc.collect()
    assert ("freed", name) in told
    ha.set_controller(None)
    told.clear()
    blocks(4)
    assert not told
    with pytest.raises(TypeError, match="Controller"):
        ha.set_controller(3)


@alone
def test_a_controller_sees_hints(tmp_path):
    gpu, told = ha.context("sim:0"), []
    class Watch(ha.Controller):
        def choose(self, where, candidates, need):
            told.append([(c.name, c.priority, c.is_done) for c in candidates])
            return candidates[2]
    ha.set_budget(gpu, "3MiB")
    ha.set_controller(Watch())
    made = blocks(4)
    for x in made[:3]:
        x.write(gpu).close()
    made[0].set_priority(2)
    made[1].done(gpu)
    made[2].set_priority(-1)
    made[3].write(gpu).close()
    assert sorted(told.pop()) == [("block 0", 2, False), ("block 1", 0, True), ("block 2", -1, False)] and not told
    assert ["sim:0" in x.residency for x in made] == [False, True, True, True] # the last of the list, against its priority
    made[0].write(gpu).close()
    assert len(told) == 1


@alone
def test_a_controller_hears_what_it_has(tmp_path):
    """One that only chooses is told when arrays came back; methods may be an object's own; one may take itself off."""
    gpu, told = ha.context("sim:0"), []
    class Chooses(ha.Controller):
        def choose(self, where, candidates, need):
            told.append({c.name: c.restored_at for c in candidates})
    ha.set_controller(Chooses())
    ha.set_budget(gpu, "2MiB")
    made = blocks(3)
    for x in (*made, made[0], made[1]):
        x.write(gpu).close()
    assert len(told) == 3 and told[2]["block 0"] > 0 and told[2]["block 2"] == 0
    watch = ha.Controller()
    kinds = []
    watch.allocated = lambda array: (told.append(array.nbytes), kinds.append((type(array), array.name, array.id, tuple(array))))
    ha.set_controller(watch)
    told.clear()
    kept = ha.zeros(3)
    assert told == [24] and kinds == [(ha.ArrayInfo, "", kept.id, (kept.id, "", 24))]
    del kept
    class Once(ha.Controller):
        def freed(self, array):
            told.append(array.name)
            ha.set_controller(None)
    ha.set_controller(Once())
    del watch
    ha.zeros(1, name="first")
    ha.zeros(1, name="second")
    gc.collect()
    assert told == [24, "first"]


@alone
def test_what_a_controller_may_do(tmp_path):
    gpu, seen, raised = ha.context("sim:0"), [], []
    sys.unraisablehook = lambda e: raised.append(e.exc_type)
    class Busy(ha.Controller):
        def pressure(self, where, need, attempt):
            other = ha.zeros(1 << 17)
            with other.write(gpu if attempt < 2 else None) as v:
                seen.append(v.context.name)
            np.asarray(other).sum()
            with pytest.raises(BufferError): # it is just being opened
                target.write(gpu)
            return False
        def choose(self, where, candidates, need):
            return None
        def freed(self, array): ha.host.memory, ha.exports()
    target = ha.zeros(1 << 17, name="target")
    ha.set_budget(gpu, "3MiB")
    made = blocks(3)
    for x in made: x.write(gpu).close()
    ha.set_controller(Busy())
    target.write(gpu).close()
    assert seen == ["sim:0"] and not raised
    class Broken(ha.Controller):
        def pressure(self, where, need, attempt): raise ZeroDivisionError
        def choose(self, where, candidates, need): return "nobody"
        def deferred(self, array, source, target): raise KeyError
    ha.set_controller(Broken())
    for x in made: x.write(gpu).close()
    assert ZeroDivisionError in raised and ValueError in raised and KeyError in raised
    assert [x[0, 0] for x in made] == [0, 1, 2]
    raised.clear()
    class Returns(ha.Controller): # which is for nobody
        def allocated(self, array): return "made"
        def freed(self, array): return array
    ha.set_controller(Returns())
    ha.zeros(3, name="short").write().close()
    assert not raised


@alone
def test_threads_a_controller_and_a_tiny_budget(tmp_path):
    gpu, calls = ha.context("sim:0"), []
    class Counting(ha.Controller):
        def pressure(self, where, need, attempt): calls.append(attempt)
        def deferred(self, array, source, target): calls.append(array.id)
    ha.set_budget(gpu, "3MiB")
    ha.set_controller(Counting())
    made, errors = blocks(8), []
    def work(k):
        try:
            for i in range(40):
                x, y = made[k], made[(k + i) % 8]
                with ha.open_all((x, "write"), (y, "read"), on=gpu) if x is not y else x.write(gpu):
                    pass
                ha.ops.add(x, 1, x, on=gpu)
                np.asarray(x)[0, 0]
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert not errors, errors
    assert [x[0, 0] for x in made] == [k + 40 for k in range(8)] and calls


@alone
def test_threads_a_controller_and_a_tier(tmp_path):
    """Eight threads, callbacks of both kinds, and memory for a fraction of what they use: nobody waits for the GIL with what
    its owner waits for. Who hangs is told where."""
    import faulthandler
    faulthandler.dump_traceback_later(80, exit=True)
    sys.setswitchinterval(1e-5)
    gpu, values, calls, errors = ha.context("sim:0"), {}, collections.Counter(), []
    sys.unraisablehook = lambda told: errors.append(told.exc_value)
    def put(key, view):
        calls["put"] += 1
        values[key] = bytes(view)
    def get(key, view):
        calls["get"] += 1
        view[:] = values[key]
    class Watch(ha.Controller):
        def pressure(self, where, need, attempt):
            calls["pressure"] += 1
            with ha.zeros(10).write() as v:
                np.asarray(v)[0] = attempt
        def choose(self, where, candidates, need):
            calls["choose"] += 1
            return max(candidates, key=lambda c: c.restored_at)
        def deferred(self, array, source, target):
            calls["deferred"] += 1
            ha.by_id(array.id)
        def retrieved(self, array, target): calls["retrieved"] += 1
        def freed(self, array): calls["freed"] += 1
    ha.set_tier("host", ha.Tier(put, get, values.pop, capacity="1GiB", piece="256KiB"))
    ha.set_controller(Watch())
    ha.set_budget(gpu, "3MiB")
    ha.set_budget("host", ha.host.memory["handed_out"] + 12 * MIB)
    made = blocks(24)
    def work(k):
        try:
            for i in range(72):
                x, y = made[k], made[(k + i) % 24]
                with ha.open_all((x, "write"), (y, "read"), on=gpu) if x is not y else x.write(gpu):
                    pass
                ha.ops.add(x, 1, x, on=gpu)
                assert np.asarray(x)[0, 0] == k + i + 1
                assert (made[8 + (k + 3 * i) % 16].numpy() == 8 + (k + 3 * i) % 16).all()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not errors, errors
    assert [x[0, 0] for x in made] == [k + 72 * (k < 8) for k in range(24)]
    assert {"put", "get", "pressure", "choose", "deferred", "retrieved", "freed"} == set(calls), calls
    faulthandler.cancel_dump_traceback_later()


def test_reports(tmp_path):
    def bytes_there(told):
        return sum(memory["bytes_in"] for memory in told["memories"] if memory["memory"] == "sim:0")
    x = ha.array(np.arange(1000.0), name="x")
    ha.context("sim:0")
    before = bytes_there(ha.report())
    with ha.trace(str(tmp_path / "trace.json")):
        x.read("sim:0").close()
    moved = [e for e in json.loads((tmp_path / "trace.json").read_text()) if e.get("args", {}).get("array") == "x"]
    assert moved
    told = ha.report()
    assert bytes_there(told) == before + 8000
    with open(tmp_path / "report.json", "w", encoding="utf-8") as file:
        assert ha.report(file) == told
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == told
    with pytest.raises(ValueError):
        ha.trace(str(tmp_path / "none" / "trace.json"))




def test_errors_are_printed_if_asked(capfd):
    before = os.environ.get("HARRAY_VERBOSE", "0") not in ("", "0")
    try:
        for on in (ha.set_verbose, lambda: ha.set_verbose(True)):
            on()
            with pytest.raises(LookupError):
                ha.context("told")
            assert "HA_ERR_NOT_FOUND" in capfd.readouterr().err
            ha.set_verbose(False)
            with pytest.raises(LookupError):
                ha.context("silent")
            assert not capfd.readouterr().err
    finally:
        ha.set_verbose(before)
