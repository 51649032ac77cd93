"""__sycl_usm_array_interface__, in both directions: of memory and accesses, and of others' memory, whose records are right, or
wrong in each entry. test_usm_records.py runs this in interpreters with SYCL devices; over dpctl every record is shown to its
parser, too. Cases as in test_memory_kinds.py:

    30  a pointer with its size, queue, and owner                     test_the_owner_is_kept, test_memory_of_others
    34  what "syclobj" may be; kinds are not mixed                    test_what_says_whose_memory_it_is
    35  the same memory comes back                                    test_there_and_back
    36  other versions                                                test_wrong_records
    37  no data, no pair; a pointer of another context                test_wrong_records, test_pointers_of_others,
                                                                      test_memory_of_another_context
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
    array = ha.wrap(Record(memory, ["strides", "offset"], shape=(2, 12), typestr="|f8")) # as dpnp has it
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


class Queue:
    """Of the stand-in, as dpctl's is seen by others. It stays."""

    def __init__(self, library, context, device, properties):
        make = library.DPCTLQueue_Create
        make.restype, make.argtypes = ctypes.c_void_p, [ctypes.c_void_p] * 3 + [ctypes.c_int]
        self.reference = make(context, device, None, properties)

    def addressof_ref(self):
        return self.reference

    def _get_capsule(self):
        return capsule_of(self.reference, b"SyclQueueRef")


def queues_of_another_context(*in_order):
    if LIBRARY == "dpctl":
        device = dpctl.SyclQueue(memory_queue()).sycl_device
        context = dpctl.SyclContext([device]) # of a device alone it is that of its own queues
        return [dpctl.SyclQueue(context, device, property=["in_order"] * ordered) for ordered in in_order]
    library = functions()
    library.DPCTLQueue_GetDevice.restype = library.DPCTLContext_Create.restype = ctypes.c_void_p
    device = ctypes.c_void_p(library.DPCTLQueue_GetDevice(ctypes.c_void_p(ha.context("sycl:0").stream)))
    context = ctypes.c_void_p(library.DPCTLContext_Create(device, None, 0))
    return [Queue(library, context, device, 2 * ordered) for ordered in in_order]


def memory_of(queue, data):
    """Of another package's, on the device."""
    if LIBRARY == "dpctl":
        memory = dpctl.memory.MemoryUSMDevice(len(data), queue=queue)
        memory.copy_from_host(np.frombuffer(data, "u1"))
        return memory
    library, reference = functions(), ctypes.c_void_p(queue.reference)
    library.DPCTLaligned_alloc_device.restype = ctypes.c_void_p
    pointer = library.DPCTLaligned_alloc_device(ctypes.c_size_t(64), ctypes.c_size_t(len(data)), reference)
    library.DPCTLQueue_Memcpy(reference, ctypes.c_void_p(pointer), data, ctypes.c_size_t(len(data)))
    library.DPCTLQueue_Wait(reference)
    record = {"data": (pointer, False), "shape": (len(data),), "strides": None, "typestr": "|u1", "version": 1, "syclobj": queue}
    return type("Memory", (), {"__sycl_usm_array_interface__": record})()


def compiles(context):
    try:
        ha.kernel("is_it", "(out, double, x)", "i", "x[i] = i;")(context, 1, ha.zeros(1))
    except NotImplementedError:
        return False
    return True


def test_memory_of_another_context():
    """Refused until a queue of that context has been adopted: then it is a memory like others."""
    queue, another, disorder = queues_of_another_context(True, True, False)
    theirs, devices = memory_of(queue, np.arange(10.0).tobytes()), ha.devices()
    with pytest.raises(ValueError, match=r"none of sycl:N.*ha\.adopt\(queue\)"):
        ha.wrap(theirs)
    with pytest.raises(ValueError, match="out of order"):
        ha.adopt(disorder)
    with pytest.raises(ValueError, match="ha_sycl_adopt takes it"):
        ha.adopt("sycl:0", queue)
    assert ha.devices() == devices
    own = ha.adopt(queue)
    name = f"sycl:{len([c for c in devices if c.kind == 'sycl'])}"
    assert own.name == name + "/a1" and ha.context(name) in ha.devices()
    array = ha.wrap(Record(theirs, shape=(10,), typestr="<f8"))
    assert array.residency == {name: "dirty"} and array.tolist() == list(range(10))
    with array.write("sycl:0"): # another memory, although of the same device
        pass
    assert array.residency["sycl:0"] == "dirty" and array.residency[name] == "stale"
    with array.read(own) as access:
        assert access.__sycl_usm_array_interface__["data"][0] == theirs.__sycl_usm_array_interface__["data"][0]
    del access
    if compiles("sycl:0"):
        add = ha.kernel("add_to", "(inout, array_double_1, x)", "i", "HA_AT(x, i) += 1;")
        for where in ("sycl:0", own, "sycl:0"):
            add(where, 10, array)
        assert array.tolist() == [i + 3 for i in range(10)]
    with ha.stream(another) as context: # of the same context
        assert context.name == name + "/a2" and ha.full(3, 1.0).residency == {name: "dirty"}
    with pytest.raises(RuntimeError, match="is the queue of"):
        ha.adopt(queue)
    del array
    gc.collect()
    own.unfork()
    again = ha.adopt(queue)
    assert again.name.startswith(name + "/a")
    again.unfork()


def test_a_queue_of_a_known_context():
    if LIBRARY == "dpctl":
        queue = dpctl.SyclQueue(dpctl.SyclQueue(memory_queue()).sycl_device, property="in_order")
    else:
        library = functions()
        library.DPCTLQueue_GetDevice.restype = library.DPCTLQueue_GetContext.restype = ctypes.c_void_p
        stream = ctypes.c_void_p(ha.context("sycl:1").stream)
        queue = Queue(library, library.DPCTLQueue_GetContext(stream), library.DPCTLQueue_GetDevice(stream), 2)
    devices = ha.devices()
    with ha.stream(queue) as context:
        assert context.name.startswith("sycl:0/a" if LIBRARY == "dpctl" else "sycl:1/a")
    assert ha.devices() == devices


@pytest.mark.parametrize("wrong", ["text", None, 1.5])
def test_what_is_no_queue(wrong):
    for arguments in ((wrong,), ("sycl:0", wrong)):
        with pytest.raises(TypeError, match="neither a number nor a queue"):
            ha.adopt(*arguments)
    with pytest.raises(TypeError, match="5 is no queue of dpctl's"):
        ha.adopt(5) # of which device that is it does not say


def test_many_records():
    """Queues that are shared are given back: of no kind of object more and more."""
    memory = filled("device")
    for _ in range(200):
        ha.Memory(Record(memory))
        with ha.zeros(10).read("sycl:0") as access:
            access.__sycl_usm_array_interface__ # pylint: disable=pointless-statement
    kept = [memory.__sycl_usm_array_interface__ for _ in range(50)]
    assert len({id(record["syclobj"]) for record in kept}) == 50
