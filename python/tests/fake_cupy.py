"""What a package of a GPU does when it exchanges arrays, over the fake driver of the repository's tests: device memory that
the host cannot touch, streams, and both protocols in both directions."""
import ctypes as C
import os
import pathlib
import re

import numpy as np

LIBRARY = os.environ.get("HARRAY_CUDA", "").removeprefix("library=")
IS_THERE = os.path.basename(LIBRARY) == "fake_libcuda.so" and os.path.exists(LIBRARY)
driver = C.CDLL(LIBRARY) if IS_THERE else None
live = {} # tensors that were handed out, by address


def plain(name, *arguments):
    """A function of the driver; integers are passed as 64 bits."""
    code = getattr(driver, name)(*(C.c_uint64(a) if isinstance(a, int) else a for a in arguments))
    assert code == 0, f"{name}: {code}"


def call(device, name, *arguments):
    """The same in a device's primary context."""
    if device not in contexts:
        plain("cuInit", 0)
        contexts[device] = C.c_void_p()
        plain("cuDevicePrimaryCtxRetain", C.byref(contexts[device]), device)
    plain("cuCtxPushCurrent_v2", contexts[device])
    try:
        plain(name, *arguments)
    finally:
        plain("cuCtxPopCurrent_v2", C.byref(C.c_void_p()))


contexts = {}


def members_of_control():
    """Of the table that the fake is controlled by, as its header has them; the first one is the size of the table."""
    header = pathlib.Path(__file__).parents[2] / "tests" / "backends" / "fake_libcuda.h"
    table = re.search(r"typedef struct fake_cuda \{(.*?)^\} fake_cuda;", header.read_text("utf-8"), re.S | re.M).group(1)
    return ["bytes", *re.findall(r"^    \w+ \**\(\*(\w+)\)\(", table, re.M)]


def control(name, *arguments):
    """Calls a function of the table."""
    place = members_of_control().index(name)
    driver.fake_cuda_control.restype = C.POINTER(C.c_void_p)
    table = driver.fake_cuda_control()
    assert place * C.sizeof(C.c_void_p) < table[0], f"{LIBRARY} is older than {name}: build it anew"
    C.CFUNCTYPE(None, *[type(a) for a in arguments])(table[place])(*arguments)


def hold(stream):
    """Nothing of it happens any more."""
    control("hold", C.c_void_p(stream))


def go_on(stream):
    """Until this."""
    control("step", C.c_void_p(stream), C.c_int64(-1))


def new_stream():
    stream = C.c_void_p()
    call(0, "cuStreamCreate", C.byref(stream), 1)
    return stream.value


def synchronize(stream, device=0):
    call(device, "cuStreamSynchronize", stream)


class Tensor(C.Structure):
    """DLPack's, with what stands in front of it in both kinds."""
    _fields_ = [("data", C.c_void_p), ("device", C.c_int32 * 2), ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8),
                ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)), ("offset", C.c_uint64)]


DELETER = C.CFUNCTYPE(None, C.c_void_p)


class Versioned(C.Structure):
    _fields_ = [("version", C.c_uint32 * 2), ("manager", C.c_void_p), ("deleter", DELETER), ("flags", C.c_uint64), ("tensor", Tensor)]


class Legacy(C.Structure):
    _fields_ = [("tensor", Tensor), ("manager", C.c_void_p), ("deleter", DELETER)]


KINDS = {b"dltensor_versioned": Versioned, b"dltensor": Legacy}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
forget = DELETER(lambda address: live.pop(address) and None)
capsule_new, capsule_pointer, capsule_rename = (getattr(C.pythonapi, "PyCapsule_" + n) for n in ("New", "GetPointer", "SetName"))
capsule_new.restype, capsule_new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
capsule_pointer.restype, capsule_pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
capsule_rename.argtypes = [C.py_object, C.c_char_p]


class ndarray: # pylint: disable=invalid-name
    """Elements in device memory; strides in bytes. `stream` is the one that its work is enqueued on."""

    def __init__(self, shape, dtype, pointer=None, strides=None, owner=None, device=0, stream=1, read_only=False):
        self.shape, self.dtype, self.owner, self.device, self.stream = tuple(shape), np.dtype(dtype), owner, device, stream
        self.read_only = read_only
        self.strides = strides if strides is not None else np.empty(self.shape, self.dtype).strides
        self.low = sum((n - 1) * s for n, s in zip(self.shape, self.strides) if s < 0 and n)
        self.span = self.dtype.itemsize - self.low + sum((n - 1) * s for n, s in zip(self.shape, self.strides) if s > 0)
        self.span = self.span if 0 not in self.shape else 0
        self.pointer, self.is_owner, self.kept = pointer, pointer is None, []
        if self.is_owner:
            own = C.c_uint64()
            call(device, "cuMemAlloc_v2", C.byref(own), max(self.span, 1))
            self.pointer = own.value

    def __del__(self):
        if self.is_owner and self.pointer:
            call(self.device, "cuMemFree_v2", self.pointer)

    def get(self):
        """The values, when the stream has come there."""
        raw = np.empty(self.span, "u1")
        if self.span:
            call(self.device, "cuMemcpyDtoHAsync_v2", C.c_void_p(raw.ctypes.data), self.pointer + self.low, self.span, self.stream)
            synchronize(self.stream, self.device)
        return np.ndarray(self.shape, self.dtype, raw, -self.low if self.span else 0, self.strides if self.span else None).copy()

    def set(self, values):
        """Enqueues that it gets these values; with gaps it waits, for what is between them stays."""
        raw = np.empty(self.span, "u1")
        if not self.span:
            return
        call(self.device, "cuMemcpyDtoHAsync_v2", C.c_void_p(raw.ctypes.data), self.pointer + self.low, self.span, self.stream)
        synchronize(self.stream, self.device)
        np.ndarray(self.shape, self.dtype, raw, -self.low, self.strides)[...] = values
        call(self.device, "cuMemcpyHtoDAsync_v2", self.pointer + self.low, C.c_void_p(raw.ctypes.data), self.span, self.stream)
        self.kept.append(raw)

    def fill_bytes(self, byte):
        """Enqueues it, and does not wait."""
        call(self.device, "cuMemsetD8Async", self.pointer + self.low, byte, self.span, self.stream)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer, self.read_only), "version": 3,
                "strides": self.strides, "stream": self.stream}

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, *, stream=None, max_version=None, **_):
        self.asked = stream, max_version # pylint: disable=attribute-defined-outside-init
        if stream not in (None, -1) and stream != self.stream:
            synchronize(self.stream, self.device)
        name = b"dltensor_versioned" if max_version and max_version[0] >= 1 else b"dltensor"
        managed = KINDS[name](deleter=forget)
        if name == b"dltensor_versioned":
            managed.version[0], managed.flags = 1, self.read_only
        n, size = len(self.shape), self.dtype.itemsize
        shape, strides = (C.c_int64 * n)(*self.shape), (C.c_int64 * n)(*(s // size for s in self.strides))
        managed.tensor = Tensor(self.pointer, (C.c_int32 * 2)(2, self.device), n, CODES[self.dtype.kind], 8 * size, 1, shape, strides, 0)
        live[C.addressof(managed)] = managed, shape, strides, self
        return capsule_new(C.addressof(managed), name, None)


def asarray(obj, device=0):
    """By the interface; its work is enqueued on the exporter's stream."""
    told = obj.__cuda_array_interface__
    assert told["version"] == 3 and told.get("stream") != 0
    return ndarray(told["shape"], told["typestr"], told["data"][0], told["strides"], obj, device, told.get("stream") or 1, told["data"][1])


class Taken:
    """A tensor, until its deleter is called."""

    def __init__(self, capsule):
        for name, kind in KINDS.items():
            if f'"{name.decode()}"' in repr(capsule):
                self.managed = kind.from_address(capsule_pointer(capsule, name))
                self.used = b"used_" + name # which the capsule does not copy
                capsule_rename(capsule, self.used)
                Taken.names.append(self.used)

    names = []

    def __del__(self):
        self.managed.deleter(C.addressof(self.managed))


def from_dlpack(obj, stream=1, **more):
    """Its work is enqueued on this stream."""
    kind, device = obj.__dlpack_device__()
    assert kind == 2
    taken = Taken(obj.__dlpack__(stream=stream, **more))
    t = taken.managed.tensor
    dtype = next(k for k, code in CODES.items() if code == t.code) + str(t.bits // 8)
    size = t.bits // 8
    return ndarray(t.shape[:t.ndim], dtype, t.data or 0, tuple(s * size for s in t.strides[:t.ndim]), taken, device, stream if stream and stream > 0 else 1,
                   bool(getattr(taken.managed, "flags", 0) & 1))
