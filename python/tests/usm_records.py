"""__sycl_usm_array_interface__, in both directions: of memory and accesses, and of others' memory, whose records are right, or
wrong in each entry. test_usm_records.py runs this in interpreters with SYCL devices; over dpctl every record is shown to its
parser, too. Cases as in test_memory_kinds.py:

    30  a pointer with its size, queue, and owner                     test_the_owner_is_kept, test_memory_of_others
    34  what "syclobj" may be; kinds are not mixed                    test_what_says_whose_memory_it_is
    35  the same memory comes back                                    test_there_and_back
    36  other versions                                                test_wrong_records
    37  no data, no pair; a pointer of another context                test_wrong_records, test_pointers_of_others
    38  no shape, negative numbers                                    test_wrong_records
    39  types that are none                                           test_wrong_records
    40  strides that do not go with the shape; none                   test_wrong_records, test_strides_and_offsets
    42  the flag beside the address                                   test_the_flag_says_nothing
"""
import ctypes
import gc
import os
import pathlib
import sys

import numpy as np
import pytest

LIBRARY = os.environ["HARRAY_TEST_RECORDS"] # its path, or "dpctl"
if LIBRARY == "dpctl":
    import dpctl
    import dpctl.memory

import harray as ha # pylint: disable=wrong-import-position

KINDS = ["device", "shared", "host"]
each_kind = pytest.mark.parametrize("kind", KINDS)


class Record:
    """An object of another package's."""

    def __init__(self, memory, without=(), **changes):
        self.memory = memory
        self.record = {**memory.__sycl_usm_array_interface__, **changes}
        for key in without:
            del self.record[key]

    @property
    def __sycl_usm_array_interface__(self):
        return self.record


def filled(kind, data=bytes(range(256))):
    memory = ha.Memory(len(data), kind, "sycl:0")
    memory.copy_from_host(data)
    return memory


class Object:
    """What has _get_capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def _get_capsule(self):
        return self.capsule


def functions():
    """Of the library."""
    path = LIBRARY
    if LIBRARY == "dpctl":
        path = next(pathlib.Path(dpctl.__file__).parent.glob("libDPCTLSyclInterface.so*"))
    return ctypes.CDLL(str(path))


def capsule_of(pointer, name):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(pointer, name, None)


def context_capsule():
    get = functions().DPCTLQueue_GetContext
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    return capsule_of(get(ha.context("sycl:0").stream), b"SyclContextRef") # one reference is never given back


def syclobjs(memory):
    queue = memory.__sycl_usm_array_interface__["syclobj"]
    yield from (queue, Object(queue), context_capsule(), Object(context_capsule()))
    if LIBRARY != "dpctl":
        yield "fake:0"
        return
    dpctl_queue = dpctl.SyclQueue(memory.__sycl_usm_array_interface__["syclobj"])
    yield from (dpctl_queue, dpctl_queue.sycl_context, dpctl_queue._get_capsule(), # pylint: disable=protected-access
                dpctl_queue.sycl_device.filter_string)


@each_kind
def test_what_memory_says(kind):
    memory = filled(kind)
    record = memory.__sycl_usm_array_interface__
    assert {key: value for key, value in record.items() if key != "syclobj"} == {
        "data": (memory.pointer, False), "shape": (256,), "strides": None, "typestr": "|u1", "version": 1, "offset": 0}
    assert 'capsule object "SyclQueueRef"' in repr(record["syclobj"])
    with pytest.raises(AttributeError):
        ha.Memory(10).__sycl_usm_array_interface__ # pylint: disable=expression-not-assigned


def test_what_accesses_say():
    """Strides in elements; the flag is True when the access is for reading."""
    x = ha.array(np.arange(12.0).reshape(3, 4))
    with x.read("sycl:0") as access:
        record = access.__sycl_usm_array_interface__
        assert record["data"] == (access.pointer, True) and record["shape"] == (3, 4) and record["strides"] is None
        assert record["typestr"] == "<f8" and record["version"] == 1 and record["offset"] == 0
    with x[:, ::2].write("sycl:0") as access:
        record = access.__sycl_usm_array_interface__
        assert record["data"] == (access.pointer, False) and record["strides"] == (4, 2) and record["shape"] == (3, 2)
    with pytest.raises(ValueError, match="was closed"):
        access.__sycl_usm_array_interface__ # pylint: disable=pointless-statement
    with x.read() as access, pytest.raises(AttributeError, match="is open at host"):
        access.__sycl_usm_array_interface__ # pylint: disable=pointless-statement


def test_accesses_as_memory():
    """Here the array is in the way of copies past it; dpctl uses the access's queue, on which the values arrive."""
    x = ha.array(np.arange(1000.0), name="x")
    with x.write("sycl:0") as access:
        seen = ha.Memory(access)
        assert (seen.pointer, seen.nbytes, seen.kind) == (access.pointer, 8000, "device")
        for refused in (seen.copy_to_host, seen.memset, lambda: ha.Memory(access, copy=True)):
            with pytest.raises(RuntimeError, match="'x'"):
                refused()
        if LIBRARY == "dpctl":
            theirs = dpctl.memory.as_usm_memory(access)
            assert np.frombuffer(theirs.copy_to_host()).tolist() == list(range(1000))
            theirs.copy_from_host(np.arange(1000.0)[::-1].copy().view("u1"))
    assert x[0] == (999 if LIBRARY == "dpctl" else 0)


@each_kind
def test_there_and_back(kind):
    memory = filled(kind)
    for syclobj in syclobjs(memory):
        again_ = ha.Memory(Record(memory, syclobj=syclobj))
        assert (again_.kind, again_.pointer, again_.nbytes, again_.context) == (kind, memory.pointer, 256, memory.context)
        if kind != "host":
            assert ha.pointer_kind(again_.pointer, "sycl:0") == kind
        target = ha.Memory(256, "device", "sycl:0")
        target.copy_from_device(Record(memory, syclobj=syclobj))
        assert target.copy_to_host() == again_.copy_to_host() == bytes(range(256))


@each_kind
def test_what_says_whose_memory_it_is(kind):
    memory = filled(kind)
    for syclobj in syclobjs(memory):
        record = Record(memory, syclobj=syclobj)
        assert ha.Memory(record, kind).pointer == memory.pointer
        for other in set(KINDS) - {kind}:
            with pytest.raises(ValueError, match=f"is of another kind than {other}"):
                ha.Memory(record, other)
            assert ha.Memory(record, other, copy=True).copy_to_host() == bytes(range(256))
    for wrong in (None, 5, object(), Object(5), Object(capsule_of(8, b"something")), capsule_of(8, b"used_SyclQueueRef"),
                  "no such:device", "fake:7"):
        for take in (ha.wrap, ha.Memory):
            with pytest.raises(ValueError, match="'syclobj'"):
                take(Record(memory, syclobj=wrong))


class Raising:
    """Its capsule is not to be had."""

    def _get_capsule(self):
        raise OSError("gone")


def test_what_is_raised_for_a_capsule():
    with pytest.raises(OSError, match="gone"):
        ha.Memory(Record(filled("device"), syclobj=Raising()))


@each_kind
def test_the_owner_is_kept(kind):
    record = Record(filled(kind))
    references = sys.getrefcount(record)
    taken = ha.Memory(record)
    array = ha.wrap(ha.Memory(taken))
    assert sys.getrefcount(record) == references + 1
    del taken
    gc.collect()
    assert array.tolist() == list(range(256)) and sys.getrefcount(record) == references + 1
    del array
    gc.collect()
    assert sys.getrefcount(record) == references
    array = ha.wrap(record)
    assert sys.getrefcount(record) == references + 1
    del array
    gc.collect()
    assert sys.getrefcount(record) == references


@each_kind
def test_arrays_of_records(kind):
    """Where the memory is, without a copy, and written back to."""
    memory = filled(kind, np.arange(24.0).tobytes())
    array = ha.wrap(Record(memory, shape=(4, 6), typestr="<f8"), name="theirs")
    assert array.dtype == "float64" and array.tolist() == np.arange(24.0).reshape(4, 6).tolist()
    where = "host" if kind == "host" else "sycl:0"
    with array.read(where) as access:
        assert access.pointer == memory.pointer
    del access
    array[...] = 5
    del array
    gc.collect()
    assert np.frombuffer(memory.copy_to_host()).tolist() == [5] * 24


@each_kind
def test_strides_and_offsets(kind):
    values = np.arange(24.0)
    memory = filled(kind, values.tobytes())
    for shape, strides, offset in [((12,), (2,), 0), ((3, 4), (8, 1), 1), ((3, 4), None, 12), ((), None, 23), ((4,), (-1,), 23),
                                   ((2, 3), (3, 1), None), ((24,), [1], 0)]:
        array = ha.wrap(Record(memory, shape=shape, strides=strides, offset=offset, typestr="<f8"))
        steps = np.array(strides or np.zeros(shape).strides) * (8 if strides else 1)
        right = np.lib.stride_tricks.as_strided(values[offset or 0:], shape, steps)
        assert (array.numpy() == right).all(), (shape, strides, offset)
        del array
        gc.collect()
    array = ha.wrap(Record(memory, ["strides", "offset"], shape=(2, 12), typestr="<f8"))
    assert array.tolist() == values.reshape(2, 12).tolist()
    taken = ha.Memory(Record(memory, shape=(2, 3), offset=5, typestr="<f8"))
    assert taken.pointer == memory.pointer + 40 and taken.nbytes == 48
    with pytest.raises(ValueError, match="no bytes, or with gaps"):
        ha.Memory(Record(memory, shape=(12,), strides=(2,), typestr="<f8"))


def test_the_flag_says_nothing():
    memory = filled("device")
    for flag in (True, False, 1, None):
        array = ha.wrap(Record(memory, data=(memory.pointer, flag)))
        array[...] = 3
        del array
        gc.collect()
        assert memory.copy_to_host() == bytes([3]) * 256
        memory.copy_from_host(bytes(range(256)))


WRONG = [("version", missing) for missing in ("missing", 0, 2, "1", None)] + \
        [("shape", wrong) for wrong in ("missing", (-1,), (4, -4), 256, "256", (2.5,), (2**80,), None, (1,) * 9)] + \
        [("data", wrong) for wrong in ("missing", 5, (5,), (5, 6, 7), ("5", True), (-5, True), (2**64, True), None, [])] + \
        [("typestr", wrong) for wrong in ("missing", "|O", "|O8", "V16", ">f8", "<U4", "text", "", "<f3", 5, None, "<i4,<i4")] + \
        [("strides", wrong) for wrong in ((1, 1), (), 1, "1", (1.5,), (2**70,))] + \
        [("offset", wrong) for wrong in ("0", 1.5, 2**70)]

# What dpctl's parser (0.22) takes: texts and fractions as numbers, the types of no typestr, the other order of bytes.
LAXER = {("shape", "256"), ("shape", (2.5,)), ("shape", (1,) * 9), ("typestr", "missing"), ("typestr", None), ("typestr", ">f8"),
         ("strides", "1"), ("strides", (1.5,))}


@pytest.mark.parametrize("key, wrong", WRONG)
def test_wrong_records(key, wrong):
    memory = filled("shared")
    record = Record(memory, [key]) if wrong == "missing" else Record(memory, **{key: wrong})
    for take in (ha.wrap, ha.Memory, ha.Memory(256, "device", "sycl:0").copy_from_device):
        with pytest.raises(ValueError, match=f"'{key}'"):
            take(record)
    if LIBRARY == "dpctl" and not any(key == lax and wrong == taken for lax, taken in LAXER):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            dpctl.memory.as_usm_memory(record)


@pytest.mark.parametrize("wrong", [None, 5, [], "text"])
def test_what_is_no_record(wrong):
    record = Record(filled("device"))
    record.record = wrong
    for take in (ha.wrap, ha.Memory):
        with pytest.raises(TypeError, match="an array interface is a dict"):
            take(record)


@pytest.mark.parametrize("elsewhere", ["host", "freed", "null"])
def test_pointers_of_others(elsewhere):
    memory, plain = filled("device"), np.zeros(256, "u1")
    pointer = {"host": plain.ctypes.data, "freed": 1 << 20, "null": 0}[elsewhere]
    record = Record(memory, data=(pointer, True))
    for take in (ha.wrap, ha.Memory):
        with pytest.raises(ValueError, match=f"'data': {hex(pointer) if pointer else '.*'} is no memory of the context"):
            take(record)


@pytest.mark.skipif(LIBRARY == "dpctl", reason="the stand-in has a second device")
def test_memory_of_another_device():
    """The record's queue says which: with that of another one the pointer is not known."""
    memory = ha.Memory(256, "device", "sycl:1")
    assert ha.Memory(Record(memory)).context == ha.context("sycl:1")
    assert ha.wrap(Record(memory)).residency == {"sycl:1": "dirty"}
    with pytest.raises(ValueError, match=f"{hex(memory.pointer)} is no memory of the context"):
        ha.Memory(Record(memory, syclobj=filled("device").__sycl_usm_array_interface__["syclobj"]))
    with pytest.raises(ValueError, match="is of another context than sycl:0"):
        ha.Memory(Record(memory), context="sycl:0")


@pytest.mark.skipif(LIBRARY != "dpctl", reason="needs dpctl")
@each_kind
def test_memory_of_others(kind):
    """dpctl's own is taken as it is, and ours is its own to dpctl."""
    make = {"device": "MemoryUSMDevice", "shared": "MemoryUSMShared", "host": "MemoryUSMHost"}[kind]
    theirs = getattr(dpctl.memory, make)(256, queue=dpctl.SyclQueue(memory_queue()))
    theirs.copy_from_host(np.arange(256, dtype="u1"))
    ours = ha.Memory(theirs)
    assert (ours.kind, ours.pointer) == (kind, theirs._pointer) and ours.copy_to_host() == bytes(range(256)) # pylint: disable=protected-access
    array = ha.wrap(theirs)
    assert array.tolist() == list(range(256))
    del array
    gc.collect()
    back = dpctl.memory.as_usm_memory(filled(kind))
    assert back.get_usm_type() == kind and bytes(back.copy_to_host()) == bytes(range(256))


def memory_queue():
    return ha.Memory(1, "device", "sycl:0").__sycl_usm_array_interface__["syclobj"]


def test_many_records():
    """Queues that are shared are given back: of no kind of object more and more."""
    memory = filled("device")
    for _ in range(200):
        ha.Memory(Record(memory))
        with ha.zeros(10).read("sycl:0") as access:
            access.__sycl_usm_array_interface__ # pylint: disable=pointless-statement
    kept = [memory.__sycl_usm_array_interface__ for _ in range(50)]
    assert len({id(record["syclobj"]) for record in kept}) == 50
