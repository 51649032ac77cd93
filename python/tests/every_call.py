"""A call of each public function, method and attribute of the package, by its name: CALLS. Each holds nothing when it has
returned, and may be made as often as one likes. ONCE are those that leave something by what they are for."""
import atexit
import copy
import ctypes
import os
import pickle
import shutil
import sys
import tempfile
import types

import numpy as np

import fake_cupy
import harray as ha

FOLDER = tempfile.mkdtemp(prefix="harray-calls-")
atexit.register(shutil.rmtree, FOLDER)
FILE = os.path.join(FOLDER, "x.npy")
GPU = ha.context("cuda:0") if fake_cupy.IS_THERE else ha.context("sim:0")
SIM = ha.context("sim:0")
X, Y, Z = ha.array([1.0, 2.0, 3.0], name="x"), ha.array([4.0, 5.0, 6.0]), ha.zeros(3)
MATRIX, ONE, MASK, BITS = ha.array(np.arange(6.0).reshape(2, 3)), ha.full(1, 2.0), ha.array([True, False, True]), ha.array([3, 5, 6])
COMPLEX, MEMORY, OTHER = ha.array([1 + 2j, 3]), ha.Memory(64, "host", SIM), ha.Memory(64, "host", SIM)
ON_GPU = ha.Memory(64, "device", GPU)
KERNEL = ha.kernel("add_two", "(inout, double, x)", "i", "x[i] += 2;")
LIBRARY = ha.Library(ha.get_library())
ha.save(FILE, X)


def refused(call, *errors):
    """What is called for its error."""
    try:
        call()
    except errors:
        return
    raise AssertionError("it was not refused")


def look(name, mode="read", where=None):
    """Calls an attribute of an access, or looks at it."""
    def call():
        with getattr(X, mode)(where) as access:
            found = getattr(access, name, None)
            if callable(found):
                found()
    return call


def exported():
    with X.read() as access:
        np.from_dlpack(access)


def opened():
    X.write().__enter__().__exit__(None, None, None) # pylint: disable=unnecessary-dunder-call


def together():
    with ha.open_all((X, "read"), (Y, "write"), on="sim:0"):
        pass


def forked():
    SIM.fork().unfork()


def adopted():
    if fake_cupy.IS_THERE:
        ha.adopt(GPU, STREAM).unfork()
    else:
        refused(lambda: ha.adopt(SIM, 1), NotImplementedError)


STREAM = fake_cupy.new_stream() if fake_cupy.IS_THERE else None


def with_stream():
    if fake_cupy.IS_THERE:
        with ha.stream(GPU, STREAM):
            pass
    else:
        refused(lambda: ha.stream(SIM, 1), NotImplementedError)


def block(make):
    def call():
        with make():
            pass
    return call


def named():
    X.name = "x"


def enqueued():
    ha.enqueue(SIM, int)
    SIM.finish()


def controlled():
    class Watch(ha.Controller):
        def allocated(self, array):
            array.nbytes # pylint: disable=pointless-statement
    ha.set_controller(Watch())
    try:
        ha.zeros(3)
    finally:
        ha.set_controller(None)


def budget():
    ha.set_budget(SIM, "1GiB")
    ha.set_budget(SIM, 0)


def watermark():
    ha.set_watermark(SIM, 0.5)
    ha.set_watermark(SIM, 1)


def raw_copies():
    MEMORY.copy_from_host(bytes(64))
    MEMORY.copy_to_host(), MEMORY.copy_to_host(bytearray(64)) # pylint: disable=expression-not-assigned


def traced():
    with ha.trace(os.path.join(FOLDER, "trace.json")): # its end is stop
        pass


def to_jax():
    """Over a module in the place of JAX, which lets go of what it has on a thread of its own."""
    before = {name: sys.modules.pop(name, None) for name in ("jax", "jax.numpy")}
    sys.modules["jax"] = types.ModuleType("jax")
    sys.modules["jax"].numpy = np # takes DLPack, too
    try:
        X.__jax_array__()
    finally:
        del sys.modules["jax"]
        sys.modules.update({name: module for name, module in before.items() if module})


def file_configured():
    ha.configure_file(FOLDER, "64MiB")


def tier():
    kept = {}
    ha.Tier(lambda key, view: kept.__setitem__(key, bytes(view)), lambda key, view: view.__setitem__(slice(None), kept[key]),
            kept.pop, capacity="1MiB")


SEARCHED = {f"Context.__{name}__": lambda name=name: getattr(SIM, f"__{name}__")(ha.host) for name in ("lt", "le", "eq", "ne", "gt", "ge")}
ARITHMETIC = {f"Array.__{name}__": lambda name=name: refused(lambda: getattr(X, f"__{name}__")(X), TypeError)
              for part in ("add", "sub", "mul", "mod", "pow", "floordiv", "truediv", "matmul") for name in (part, "r" + part)}
VALUES = {f"{kind}.{name}": lambda of=of, name=name: getattr(of, name, None) for kind, of, names in (
    ("Array", X, "shape strides dtype size nbytes itemsize offset ndim id version order residency statistics T"),
    ("Context", SIM, "name kind number stream memory pressure"), ("Memory", MEMORY, "nbytes size kind context pointer"))
          for name in names.split()}
ACCESS = {f"Access.{name}": look(name) for name in ("close __enter__ __dlpack_device__ array shape dtype strides ndim context mode "
                                                    "closed pointer stream __array_interface__ __repr__ __sycl_usm_array_interface__").split()}
UNARY = {f"ops.{name}": lambda name=name: getattr(ha.ops, name)(X) for name in """negative square abs sign reciprocal sqrt cbrt exp
    expm1 log log1p sin cos tan asin acos atan sinh cosh tanh erf floor ceil round trunc isnan isfinite sum prod min max sum_exact argmin argmax
    count_nonzero""".split()}
BINARY = {f"ops.{name}": lambda name=name: getattr(ha.ops, name)(X, Y) for name in """subtract multiply divide subtract_from divide_into
    minimum maximum abs_maximum abs_difference remainder power atan2 hypot copysign complex equal not_equal less less_equal greater
    greater_equal dot""".split()}
CONTROLLER = {f"Controller.{name}": lambda name=name, arguments=arguments: getattr(ha.Controller(), name)(*arguments) for name, arguments in {
    "pressure": (SIM, 1, 1), "choose": (SIM, [], 1), "allocated": (None,), "freed": (None,), "deferred": (None, "", ""),
    "retrieved": (None, "")
}.items()}

CALLS = {
    **SEARCHED, **ARITHMETIC, **VALUES, **ACCESS, **UNARY, **BINARY, **CONTROLLER,
    "empty": lambda: ha.empty(3), "zeros": lambda: ha.zeros((2, 3), "f4", order="F", name="new", ctx=SIM),
    "full": lambda: ha.full(3, 2.5),
    "array": lambda: (ha.array([[1, 2], [3, 4.5]]), ha.array(np.zeros(3), "f4"), ha.array(bytearray(8), copy=False)),
    "wrap": lambda: (ha.wrap(np.zeros((3, 4))[::2]), ha.wrap(MEMORY, dtype="f4", shape=(4, 4))),
    "from_dlpack": lambda: (ha.from_dlpack(np.zeros(3)), ha.from_dlpack(np.zeros(3), device=SIM, copy=True)),
    "pointer_kind": lambda: ha.pointer_kind(MEMORY.pointer, SIM),
    "load": lambda: ha.load(FILE), "save": lambda: ha.save(FILE, X), "by_id": lambda: ha.by_id(X.id),
    "equal": lambda: ha.equal(X, Y),
    "context": lambda: ha.context("sim:0"), "best": ha.best, "devices": ha.devices, "adopt": adopted, "exports": ha.exports,
    "set_budget": budget, "set_tier": lambda: ha.set_tier(SIM, None), "set_watermark": watermark, "enqueue": enqueued,
    "make_room": lambda: ha.make_room(SIM, 1 << 20), "trim": lambda: ha.trim(SIM, 1 << 20), "set_controller": controlled,
    "open_all": together,
    "report": ha.report, "get_include": ha.get_include, "get_library": ha.get_library,
    "kernel": lambda: ha.kernel("add_two", "(inout, double, x)", "i", "x[i] += 2;"),
    "no_transfers": ha.no_transfers, "no_transfers.__enter__": block(ha.no_transfers),
    "no_transfers.__exit__": block(ha.no_transfers),
    "on": lambda: ha.on(SIM), "on.__enter__": block(lambda: ha.on(SIM)), "on.__exit__": block(lambda: ha.on(SIM)),
    "stream": with_stream, "set_verbose": lambda: ha.set_verbose(False),
    "stream.__enter__": with_stream, "stream.__exit__": with_stream, "trace": traced, "trace.stop": traced,
    "trace.__enter__": traced, "trace.__exit__": traced,
    "Memory": lambda: (ha.Memory(64, "host", SIM), ha.Memory(8, "device", SIM)), "ArrayInfo": lambda: ha.ArrayInfo(1, "x", 8),
    "Candidate": lambda: ha.Candidate(1, "x", 8, 0, False, 0), "Controller": ha.Controller,
    "DeviceError": lambda: refused(lambda: ha.configure_file("/no such"), ha.DeviceError),
    "Kernel": lambda: ha.Kernel("add_two", "(inout, double, x)", "i", "x[i] += 2;"), "Kernel.__repr__": lambda: repr(KERNEL),
    "Kernel.__call__": lambda: refused(lambda: KERNEL("sim:0", 3, X), NotImplementedError), "Kernel.log": lambda: KERNEL.log(SIM),
    "Library": lambda: ha.Library(ha.get_library()), "Library.__repr__": lambda: repr(LIBRARY),
    "Library.__getattr__": lambda: refused(lambda: LIBRARY.nothing, AttributeError),
    "Access": lambda: refused(ha.Access, TypeError),
    "Array": lambda: refused(ha.Array, TypeError), "Context": lambda: refused(ha.Context, TypeError),
    "Access.__exit__": opened, "Access.__dlpack__": exported,
    "Access.__cuda_array_interface__": look("__cuda_array_interface__", where=GPU),
    "Array.read": lambda: X.read(wait=False).close(), "Array.write": lambda: X.write(SIM).close(),
    "Array.overwrite": lambda: Z.overwrite().close(),
    "Array.numpy": X.numpy, "Array.__array__": lambda: np.asarray(X), "Array.__jax_array__": to_jax,
    "Array.__dlpack__": lambda: (np.from_dlpack(X), np.from_dlpack(X, copy=True)), "Array.__dlpack_device__": X.__dlpack_device__,
    "Array.__reduce_ex__": lambda: (pickle.loads(pickle.dumps(X, 5)), pickle.loads(pickle.dumps(X, 2))),
    "Array.__copy__": lambda: copy.copy(X),
    "Array.__deepcopy__": lambda: copy.deepcopy(X), "Array.copy": X.copy, "Array.astype": lambda: X.astype("f4"),
    "Array.tolist": X.tolist,
    "Array.item": ONE.item, "Array.sync": X.sync, "Array.transpose": lambda: MATRIX.transpose(1, 0),
    "Array.reshape": lambda: MATRIX.reshape(3, -1),
    "Array.broadcast_to": lambda: X.broadcast_to((2, 3)), "Array.flip": lambda: X.flip(0), "Array.diagonal": MATRIX.diagonal,
    "Array.retrieve": lambda: X.retrieve(SIM), "Array.defer": lambda: X.defer(SIM), "Array.done": lambda: X.done(SIM),
    "Array.set_priority": lambda: X.set_priority(0), "Array.from_address": lambda: ha.Array.from_address(X.address),
    "Array.name": named,
    "Array.address": lambda: X.address, "Array.__repr__": lambda: repr(X), "Array.__str__": lambda: str(X),
    "Array.__neg__": lambda: refused(lambda: -X, TypeError), "Array.__bool__": lambda: bool(ONE),
    "Array.__int__": lambda: int(ONE),
    "Array.__float__": lambda: float(ONE), "Array.__len__": lambda: len(X), "Array.__buffer__": lambda: memoryview(X).release(),
    "Array.__getitem__": lambda: (X[1], MATRIX[1:, ::2], X[None, ...]),
    "Array.__setitem__": lambda: (Z.__setitem__(0, 1), Z.__setitem__(slice(0, 2), [1, 2]), Z.__setitem__(..., 2)),
    "Array.__delitem__": lambda: refused(lambda: X.__delitem__(0), TypeError),
    "Access.__buffer__": lambda: memoryview(X.read()).release(),
    "Context.__repr__": lambda: repr(SIM), "Context.__str__": lambda: str(SIM), "Context.__hash__": lambda: hash(SIM),
    "Context.finish": SIM.finish,
    "Context.fork": forked, "Context.unfork": forked, "Memory.__repr__": lambda: repr(MEMORY),
    "Memory.__len__": lambda: len(MEMORY),
    "Memory.copy_to_host": raw_copies, "Memory.copy_from_host": raw_copies,
    "Memory.copy_from_device": lambda: MEMORY.copy_from_device(OTHER),
    "Memory.memset": MEMORY.memset, "Memory.get_ipc_handle": lambda: refused(MEMORY.get_ipc_handle, NotImplementedError),
    "Memory.open_ipc_handle": lambda: refused(lambda: ha.Memory.open_ipc_handle(b""), NotImplementedError),
    "Memory.__reduce_ex__": lambda: pickle.loads(pickle.dumps(MEMORY, 5)),
    "Memory.__buffer__": lambda: memoryview(MEMORY).release(),
    "Memory.__release_buffer__": lambda: memoryview(MEMORY).release(),
    "Memory.__cuda_array_interface__": lambda: getattr(ON_GPU, "__cuda_array_interface__", None),
    "Memory.__sycl_usm_array_interface__": lambda: getattr(MEMORY, "__sycl_usm_array_interface__", None),
    "ops.add": lambda: (ha.ops.add(X, Y), ha.ops.add(X, 1)), "ops.norm": lambda: (ha.ops.norm(X), ha.ops.norm(X, Y)),
    "ops.conjugate": lambda: ha.ops.conjugate(COMPLEX), "ops.real": lambda: ha.ops.real(COMPLEX),
    "ops.imag": lambda: ha.ops.imag(COMPLEX), "ops.angle": lambda: ha.ops.angle(COMPLEX),
    "ops.bitwise_and": lambda: ha.ops.bitwise_and(BITS), "ops.bitwise_or": lambda: ha.ops.bitwise_or(BITS),
    "ops.bitwise_xor": lambda: ha.ops.bitwise_xor(BITS),
    "ops.axpby": lambda: ha.ops.axpby(2, X, 3, Y), "ops.clip": lambda: ha.ops.clip(X, 0, 1),
    "ops.where": lambda: ha.ops.where(MASK, X, Y),
    "ops.sequence": lambda: ha.ops.sequence(Z), "ops.random": lambda: ha.ops.random(Z, 1),
    "ops.random_normal": lambda: ha.ops.random_normal(Z, 1),
}
ONCE = {
    "Tier": tier, # a context, which stays
    "configure_file": file_configured, # the settings of the process
}


def reads_of_others():
    """Memory of a package that is none of ours, by each of its protocols."""
    class Interface: # pylint: disable=too-few-public-methods
        def __init__(self, **interfaces):
            self.__dict__.update(interfaces)
    a = np.zeros(3)
    ha.wrap(Interface(__array_interface__=a.__array_interface__))
    if fake_cupy.IS_THERE:
        b = fake_cupy.ndarray((3,), "f8")
        ha.wrap(Interface(__cuda_array_interface__=b.__cuda_array_interface__))
        ha.from_dlpack(b)


ctypes.pythonapi # pylint: disable=pointless-statement # what Library needs is imported before anybody counts
