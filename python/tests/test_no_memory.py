"""Each allocation of Python's fails in turn: what is called raises, holds nothing afterwards, and has changed no value."""
import subprocess
import sys

import pytest

pytest.importorskip("_testcapi")
if sys.version_info >= (3, 12): # other interpreters have other weaknesses without memory than those that are allowed for here
    pytest.skip("what 3.11 does without memory is known", allow_module_level=True)

# What is called.
PROGRAMS = {
    "read": "x.read().close()",
    "write": "x.write('sim:0').close()",
    "overwrite": "y.overwrite().close()",
    "refused": "refused(x)",
    "buffer": "memoryview(x).release()",
    "bytes": "bytes(x)",
    "numpy": "np.asarray(x)",
    "interface": "interface(x)",
    "dlpack": "np.from_dlpack(x.read())",
    "capsule": "x.__dlpack__(max_version=(1, 0))",
    "from_dlpack": "ha.from_dlpack(array)",
    "wrap": "ha.wrap(array, name='w')",
    "wrap_bytes": "ha.wrap(bytearray(64))",
    "dtypes": "(ha.zeros(3, np.float32), ha.zeros(3, np.dtype('f4')), ha.zeros(3, torch_int))",
    "jax": "x.__jax_array__()",
    "zeros": "ha.zeros((3, 4), 'f4', name='new')",
    "full": "ha.full((3, 4), 2.5)",
    "nested": "ha.array([[1, 2], [3, 4]])",
    "array": "ha.array(array, copy=True)",
    "views": "x[1:, None].T.reshape(-1)[::2]",
    "fill": "fill(y)",
    "element": "(x[3], x.tolist(), repr(x), str(x))",
    "asked": "(x.shape, x.residency, x.statistics, x.name, ha.host.memory, ha.host.pressure, ha.exports())",
    "open_all": "together(x, y)",
    "memory": "raw(memory)",
    "memory_new": "ha.wrap(ha.Memory(64, 'host'))",
    "pickle": "pickle.loads(pickle.dumps(x, 5))",
    "copy": "copy.deepcopy(x)",
    "by_id": "ha.by_id(x.id)",
    "address": "ha.Array.from_address(x.address)",
    "enqueue": "(ha.enqueue('host', int), ha.context('sim:0').finish())",
    "operation": "ha.ops.add(x, x, out=y)",
    "sum": "ha.ops.sum(x)",
    "kernel": "launched(x)",
    "tier": "tiered(x)",
    "controller": "controlled()",
}

HELP = '''
import copy, gc, pickle, sys, types, _testcapi
import numpy as np, harray as ha
jax = types.ModuleType("jax")
jax.numpy = np # takes DLPack, too
sys.modules["jax"] = jax
torch_int = type("dtype", (), {"__str__": lambda self: "torch.int32"})()
values, told = {}, []
sys.unraisablehook = lambda unraisable: told.append(unraisable.exc_type)
def put(key, view): values[key] = bytes(view)
def get(key, view): view[:] = values[key]
def delete(key): values.pop(key, None)
tier = ha.Tier(put, get, delete, capacity="64MiB", piece=4096)
x, y, array, memory = ha.array(np.arange(1000.0), name="x"), ha.zeros(1000), np.arange(1000.0), ha.Memory(64, "host")
kernel = ha.kernel("add_one", "(inout, array_double_1, u)", "(i)", "HA_AT(u, i) += 1;")

def refused(x):
    with x.read():
        try:
            x.write()
        except BufferError:
            pass
def interface(x):
    with x.read() as v:
        v.__array_interface__
def together(x, y):
    with ha.open_all((x, "read"), (y, "write"), on="sim:0"):
        pass
def fill(y):
    y[2:5] = 3; y[...] = x; y[0] = 1
def raw(m):
    m.memset(1); m.copy_from_host(bytes(64)); m.copy_to_host(); memoryview(m).release()
def launched(x):
    try:
        kernel("sim:0", 1000, x)
    except NotImplementedError:
        pass
def tiered(x):
    x.retrieve(tier); x.read().close()
    try:
        ha.host.memory
    finally:
        with x.write(): pass
class Watch(ha.Controller):
    def allocated(self, array): pass
def controlled():
    try:
        ha.set_controller(Watch())
        ha.zeros(3)
    finally:
        ha.set_controller(None)

def fails_at(n, call):
    """Whether something was raised when allocation n from now on failed."""
    try:
        _testcapi.set_nomemory(n, n + 1)
        call()
    except (MemoryError, ha.DeviceError, pickle.PicklingError): # which is what pickle says of it
        return True
    except SystemError as error: # 3.11 says nothing where there is no memory to call a function of Python's
        assert "<function" in str(error), error
        return True
    finally:
        _testcapi.remove_mem_hooks()
    return False

def check(call):
    call() # what is made once has been made
    gc.collect()
    before, quiet, n = ha.host.memory["live"], 0, 0
    while quiet < 40:
        quiet = 0 if fails_at(n, call) else quiet + 1
        n += 1
        assert not ha.exports(), (n, ha.exports())
        x.write().close(), y.write().close() # nothing holds them
        assert (x.numpy() == np.arange(1000)).all(), n
    gc.collect()
    assert ha.host.memory["live"] <= before, (before, ha.host.memory)
    assert all(issubclass(kind, (MemoryError, ha.DeviceError)) for kind in told), told
    assert n > quiet # at least one has failed
'''


def test_each_allocation_fails():
    """In one interpreter: what it says last is where it ended."""
    calls = "".join(f"print({name!r}, flush=True)\ncheck(lambda: {call})\n" for name, call in PROGRAMS.items())
    done = subprocess.run([sys.executable, "-c", HELP + calls], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.returncode} in {done.stdout.split()[-1:]}: {done.stderr[-3000:]}"
