"""Functions of Python on queues."""
import subprocess
import sys
import threading

import numpy as np
import pytest

import fake_cupy
import harray as ha


@pytest.mark.parametrize("where", ["host", "sim:0"])
def test_they_run_in_their_order(where):
    seen, ctx = [], ha.context(where)
    for i in range(100):
        ha.enqueue(ctx, lambda i=i: seen.append((i, threading.get_ident())))
    if where == "host":
        assert len(seen) == 100 # each has returned
    ctx.finish()
    assert [i for i, _ in seen] == list(range(100))
    assert (threading.get_ident() in {thread for _, thread in seen}) == (where == "host")


def test_between_two_copies():
    """A function comes behind the copies that were enqueued before it, and before those that were enqueued later: it sees what they
    have brought to memory that was wrapped."""
    a, seen, go, sim = np.zeros(1 << 18), [], threading.Event(), ha.context("sim:0")
    x = ha.wrap(a)
    def look():
        seen.append((a.min(), a.max()))
    ha.ops.add(x, 3.0, x, on=sim)
    ha.enqueue(sim, go.wait) # nothing behind it happens yet
    try:
        ha.enqueue(sim, look)
        x.retrieve("host")
        ha.enqueue(sim, look)
        assert not seen
    finally:
        go.set()
    sim.finish()
    assert seen == [(0, 0), (3, 3)]


def test_nothing_is_kept():
    class Function:
        def __call__(self):
            ran.append(sys.getrefcount(self))

    ran, function = [], Function()
    count = sys.getrefcount(function)
    for _ in range(10):
        ha.enqueue("sim:0", function)
    ha.context("sim:0").finish()
    assert len(ran) == 10 and sys.getrefcount(function) == count


def test_what_it_raises(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append((unraisable.exc_type, unraisable.object)))
    def fails():
        raise KeyError("nothing")
    for where in ("host", "sim:0"):
        ha.enqueue(where, fails)
        ha.context(where).finish()
    assert told == [(KeyError, fails)] * 2


def test_what_is_refused():
    with pytest.raises(TypeError, match="5 cannot be called"):
        ha.enqueue("sim:0", 5)
    with pytest.raises(LookupError):
        ha.enqueue("nowhere:0", print)
    with pytest.raises(TypeError):
        ha.enqueue("sim:0")


@pytest.mark.skipif(not fake_cupy.IS_THERE, reason="there is no fake driver of CUDA")
def test_a_device_that_runs_no_functions():
    function = lambda: None # of its own, as functions without a cell are shared
    count = sys.getrefcount(function)
    with pytest.raises(NotImplementedError):
        ha.enqueue("cuda:0", function)
    assert sys.getrefcount(function) == count


@pytest.mark.parametrize("kept", ["", "x = ha.zeros(3); "])
def test_the_end_waits_for_them(kept):
    program = f"import time, harray as ha; {kept}ha.enqueue('sim:0', lambda: (time.sleep(0.2), print('slept', flush=True))); ha.enqueue('sim:0', lambda: print('last', flush=True))"
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "slept\nlast\n", "")


def test_who_frees_a_tensor_lets_others_run():
    """NumPy gives tensors back with the GIL. The last one takes the array along, which waits for a queue with a function of Python."""
    program = """if True:
        import faulthandler, sys, threading
        import numpy as np, harray as ha
        faulthandler.dump_traceback_later(50, exit=True)
        x, go = ha.wrap(np.zeros(1000)), threading.Event()
        v = x.read()
        a = np.from_dlpack(v)
        ha.enqueue("sim:0", go.wait)
        with x.read("sim:0"):
            pass
        del v, x
        sys.setswitchinterval(1000) # the function cannot go on before this thread gives the GIL away
        go.set()
        del a
        assert not ha.exports()
        print("passed")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "passed\n", done.stdout + done.stderr
