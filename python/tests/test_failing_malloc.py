"""Each allocation of the engine's and of the extension's fails in turn: what is called raises, or does without; nothing is left of
it, no value has changed, and the next try works. Python's own allocations are those of test_no_memory.py."""
import os
import pathlib
import subprocess
import sys

import pytest

if "asan" in os.environ.get("LD_PRELOAD", ""):
    pytest.skip("a sanitizer has functions of its own in the place of malloc", allow_module_level=True)

# What is called.
PROGRAMS = {
    "zeros": "ha.zeros((300, 4), 'f4', name='new')",
    "full": "ha.full((3, 4), 2.5, ctx='sim:0')",
    "array": "(ha.array([[1, 2], [3, 4]]), ha.array(array, copy=True), ha.array(bytearray(8)))",
    "read": "x.read().close()",
    "write": "(x.write('sim:0').close(), x.write().close())",
    "overwrite": "y.overwrite().close()",
    "buffer": "memoryview(x).release()",
    "numpy": "np.asarray(x)",
    "dlpack": "(np.from_dlpack(x.read()), x.__dlpack__(max_version=(1, 0)), np.from_dlpack(x, copy=True))",
    "from_dlpack": "(ha.from_dlpack(array), ha.from_dlpack(other, device='sim:0', copy=True))",
    "wrap": "(ha.wrap(array, name='w'), ha.wrap(bytearray(64)), ha.wrap(Interface(other)))",
    "written": "written(ha.wrap(np.zeros(100)))",
    "views": "x[1:, None].T.reshape(-1)[::2].copy()",
    "fill": "fill(y)",
    "operation": "ha.ops.add(x, x, on='sim:0')",
    "open_all": "together(x, y)",
    "pickle": "(pickle.loads(pickle.dumps(x, 5)), pickle.loads(pickle.dumps(x[::2], 2)))",
    "copy": "(copy.copy(x), copy.deepcopy(x), x.astype('f4'))",
    "memory": "raw()",
    "file": "(ha.save(file, x), ha.load(file))",
    "moves": "moved(x)",
    "enqueue": "(ha.enqueue('sim:0', int), ha.context('sim:0').finish())",
    "kernel": "ha.kernel(f'add_{next(numbers)}', '(inout, array_double_1, u)', '(i)', 'HA_AT(u, i) += 1;')",
    "asked": "(x.residency, x.statistics, ha.host.memory, ha.exports(), ha.report(), ha.devices(), ha.by_id(x.id))",
    "address": "ha.Array.from_address(x.address)",
}

HELP = '''
import copy, ctypes, gc, itertools, os, pickle, sys, tempfile
import numpy as np, harray as ha
fail_at = ctypes.CDLL(os.environ["LD_PRELOAD"]).fail_at
fail_at.argtypes, fail_at.restype = [ctypes.c_long], ctypes.c_long
told = []
sys.unraisablehook = lambda unraisable: told.append(unraisable.exc_type)
numbers = itertools.count() # of kernels, for those of the same text are kept
array, other = np.arange(1000.0), np.arange(1000.0)
x, y = ha.array(array, name="x"), ha.zeros(1000)
file = os.path.join(os.environ["HARRAY_TEST_FOLDER"], "x.npy")

class Interface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
def together(x, y):
    with ha.open_all((x, "read"), (y, "write"), on="sim:0"):
        pass
def fill(y):
    y[2:5] = 3; y[...] = x; y[0] = 1; y[1:3] = [1, 2]
def written(w):
    w.write("sim:0").close(); w.sync()
def raw():
    m = ha.Memory(64, "host"); other = ha.Memory(64, "device", "sim:0")
    m.memset(1); m.copy_from_host(bytes(64)); other.copy_from_device(m); other.copy_to_host(); memoryview(m).release()
    ha.wrap(m)
def moved(x):
    x.retrieve("sim:0"); x.defer("sim:0"); x.done("sim:0")

def ledger():
    gc.collect()
    ha.context("sim:0").finish()
    return [ha.context(name).memory["live"] for name in ("host", "sim:0")]

def values(result):
    return [a.tolist() for a in (result if isinstance(result, tuple) else (result,)) if isinstance(a, (ha.Array, np.ndarray))]

def fails_at(n, call):
    """What it gave when allocation n failed, None: it raised; and whether there was such an allocation."""
    for name in ("host", "sim:0"):
        ha.trim(name, 0) # what was kept for later would be taken instead
    fail_at(n)
    try:
        result = call()
    except (MemoryError, ha.DeviceError):
        return None, fail_at(0) >= n
    finally:
        count = fail_at(0)
    return values(result), count >= n

def check(call):
    right = values(call()) # and what is made once has been made
    before, n, reached = ledger(), 0, True
    while reached:
        n += 1
        given, reached = fails_at(n, call)
        assert given == right or (given is None and reached), (n, given)
        assert not ha.exports(), (n, ha.exports())
        x.write(wait=False).close(), y.write(wait=False).close() # nothing holds them
        assert (x.numpy() == array).all() and (array == np.arange(1000)).all(), n
        assert values(call()) == right
        assert ledger() == before, (n, before, ledger())
    assert all(issubclass(kind, (MemoryError, ha.DeviceError)) for kind in told), told
    assert n > 1 # there are allocations
'''


@pytest.fixture(name="environment", scope="module")
def _environment(tmp_path_factory):
    """With the library that lets allocations fail."""
    folder = tmp_path_factory.mktemp("failing")
    library, source = folder / "libfailing_malloc.so", pathlib.Path(__file__).with_name("failing_malloc.c")
    try:
        subprocess.run(["cc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-Wl,-z,defs", source, "-o", library, "-ldl"], check=True,
                       capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no C compiler, or it is not glibc whose malloc there is")
    return {**os.environ, "LD_PRELOAD": str(library), "HARRAY_TEST_FOLDER": str(folder)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_allocation_of_the_engine_fails(name, environment):
    done = subprocess.run([sys.executable, "-c", f"{HELP}\ncheck(lambda: {PROGRAMS[name]})\n"], capture_output=True, text=True,
                          timeout=300, check=False, env=environment)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr[-3000:]}"


def test_the_first_calls_of_a_process(environment):
    """Where the engine starts: each allocation from the loading of the package on."""
    program = """
import ctypes, os
import harray as ha
x = ha.full(100, 2.0, name="x")
x.write("sim:0").close()
assert ha.ops.sum(x) == 200
print(ctypes.CDLL(os.environ["LD_PRELOAD"]).fail_at(0))
"""
    n, count, failures = 0, 1, 0
    while count > n:
        n += 1
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False,
                              env={**environment, "HARRAY_TEST_FAIL_AT": str(n)})
        said = done.stderr.splitlines()[-1:]
        assert done.returncode in (0, 1), (n, done.returncode, done.stderr)
        if done.returncode:
            failures += 1
            assert said[0].startswith(("MemoryError", "harray.DeviceError", "ImportError")), (n, done.stderr)
        else:
            count = int(done.stdout)
    assert failures
