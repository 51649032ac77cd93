"""harray.Memory: bytes of a kind, as SYCL's unified shared memory has them. What is tested is a list of cases that a library
for such memory has to get right, by number; cases of records are in usm_records.py.

     1  memory of a kind says what it is                              test_what_it_says
     2  ... also without an alignment, kinds by name                  test_without_an_alignment
     3  ... also without a context                                    test_without_a_context
     4  sizes of other types of integers                              test_sizes_of_other_types
     5  no bytes, or fewer                                            test_no_bytes
     6  more than there is                                            test_more_than_there_is
     7  alignments                                                    test_alignments
     8  no context, no pointer, in C: also 9, 10                      memory_of_no_context, tests/arrays/cases_zero_copy.c
    11  the kind of a pointer, in its context                         test_kind_of_a_pointer
    12  ... in another one                                            test_kind_in_another_context
    13  ... in what is no context                                     test_kind_in_no_context
    14  whose a pointer is, in C: also 15                             memory_of_a_kind, tests/arrays/cases_zero_copy.c
    16  bytes in, bytes out                                           test_bytes_go_in_and_out
    17  too small a target                                            test_too_small_a_target
    18  a larger target                                               test_a_larger_target
    20  from memory of another kind                                   test_from_another_kind
    21  from memory of another context                                test_from_another_context
    22  too large a source, or none                                   test_too_large_a_source
    24  filling, and with what is no byte                             test_filling
    25  another Memory of the same bytes                              test_the_same_bytes
    26  kinds are not mixed                                           test_kinds_are_not_mixed
    27  ... unless it is a copy                                       test_a_copy_of_another_kind
    28  who reaches the bytes                                         test_views_on_the_host
    29  pickling                                                      test_pickling, test_corrupt_pickles
    31  what it says is what it has                                   test_what_it_says
    44  handles for other processes                                   test_handles_for_other_processes: not offered
"""
import copy
import gc
import os
import pathlib
import pickle
import random
import shutil
import subprocess
import sys
import threading
import weakref

import dpctl_device
import numpy as np
import pytest

import harray as ha

PLACES = os.environ.get("HARRAY_TEST_PLACES", "host sim:0").split()
ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ["device", "shared", "host"]


def has(place, kind):
    """Whether a place has memory of a kind."""
    try:
        ha.Memory(1, kind, place)
    except NotImplementedError:
        return False
    return True


THERE = [(place, kind) for place in PLACES for kind in KINDS if has(place, kind)]
everywhere = pytest.mark.parametrize("place, kind", THERE)
LETTERS = bytes(i % 32 + ord("a") for i in range(1024))


def filled(data, kind, place):
    memory = ha.Memory(len(data), kind, place)
    memory.copy_from_host(data)
    return memory


def told(place, kind):
    """What a pointer to such memory is called: on the host, and on a device that works on its memory, all is the host's."""
    apart = place != "host" and not os.environ.get("HARRAY_SIM", "").startswith("unified")
    return kind if apart or (kind == "shared" and place != "host") else "host"


@pytest.mark.parametrize("place", PLACES)
def test_what_there_is(place):
    """A simulated device shares memory with the host where it is unified alone, one of OpenCL where its memory is USM."""
    kinds = {kind for there, kind in THERE if there == place}
    assert kinds >= {"device", "host"}
    wanted = {"sim:0": ("HARRAY_SIM", "unified=1"), "opencl:0": ("HARRAY_OPENCL", "memory=usm")}.get(place)
    if wanted and not os.environ.get(wanted[0]):
        with pytest.raises(NotImplementedError, match=f"{place} has no memory of the kind managed.*{'='.join(wanted)}"):
            ha.Memory(10, "shared", place)
    else:
        assert "shared" in kinds


@everywhere
def test_what_it_says(place, kind):
    memory = ha.Memory(1024, kind, place, 64)
    assert memory.nbytes == len(memory) == memory.size == 1024 and memory.pointer % 64 == 0
    assert memory.kind == kind and memory.context == ha.context(place)
    assert repr(memory) == f"<harray.Memory of 1024 bytes, {kind}, {place}, at {hex(memory.pointer)}>" and str(memory)


@everywhere
def test_without_an_alignment(place, kind):
    assert ha.Memory(1024, kind, place).kind == kind
    assert ha.Memory(1024, kind=kind, context=ha.context(place)).pointer


def test_without_a_context():
    assert ha.Memory(1024).context == ha.host and ha.Memory(1024).kind == "device"
    with ha.on("sim:0"):
        assert ha.Memory(1024, "host", alignment=64).context == ha.context("sim:0")


@everywhere
def test_sizes_of_other_types(place, kind):
    assert ha.Memory(np.int64(16384), kind, place).nbytes == 16384
    for wrong in (16.0, "16", None, b"16"):
        with pytest.raises(TypeError):
            ha.Memory(wrong, kind, place)


@everywhere
def test_no_bytes(place, kind):
    for wrong in (0, -1, -2**70):
        with pytest.raises(ValueError, match=f"Memory of {wrong} bytes: at least 1"):
            ha.Memory(wrong, kind, place)


@everywhere
def test_more_than_there_is(place, kind):
    for wrong in (2**62, 2**63 - 1, 2**63, 2**80):
        with pytest.raises(MemoryError):
            ha.Memory(wrong, kind, place)
    assert filled(LETTERS, kind, place).copy_to_host() == LETTERS


@everywhere
def test_alignments(place, kind):
    several = [ha.Memory(100, kind, place, 1 << power) for power in range(13) for _ in range(3)]
    assert [m.pointer % (1 << power) for m, power in zip(several, sorted(list(range(13)) * 3))] == [0] * 39
    for i, memory in enumerate(several):
        memory.memset(i)
    assert all(m.copy_to_host() == bytes([i]) * 100 for i, m in enumerate(several))
    for wrong in (-64, 3, 96, 8192, 2**40):
        with pytest.raises(ValueError, match=f"alignment {wrong}: a power of two of at most 4096"):
            ha.Memory(100, kind, place, wrong)


@pytest.mark.parametrize("wrong, error", [("usm", ValueError), ("", ValueError), ("DEVICE", ValueError), (1, TypeError),
                                          (None, TypeError), (b"host", TypeError)])
def test_what_is_no_kind(wrong, error):
    with pytest.raises(error, match='kind .*: "device", "shared" or "host"'):
        ha.Memory(10, wrong)


def test_what_is_no_context():
    with pytest.raises(TypeError, match="is no context"):
        ha.Memory(10, "device", 5)
    with pytest.raises(LookupError):
        ha.Memory(10, "device", "sim:99")


# ---- pointers ----------------------------------------------------------------------------------------------------------


@everywhere
def test_kind_of_a_pointer(place, kind):
    memory = ha.Memory(1000, kind, place)
    for address in (memory.pointer, memory.pointer + 999):
        assert ha.pointer_kind(address) == told(place, kind)
        here = told(place, kind) if kind != "host" or place != "opencl:0" else "unknown" # which pins none: it is the host's
        assert ha.pointer_kind(address, place) == ha.pointer_kind(address, context=ha.context(place)) == here


@everywhere
def test_kind_in_another_context(place, kind):
    memory = ha.Memory(1000, kind, place)
    assert ha.pointer_kind(memory.pointer, "sim:1") == "unknown"
    assert ha.pointer_kind(memory.pointer, ha.host) == ("host" if told(place, kind) == "host" else "unknown")


def test_kind_in_no_context():
    for wrong in (5, b"host", [], object()):
        with pytest.raises(TypeError, match="is no context"):
            ha.pointer_kind(ha.Memory(1).pointer, wrong)


def test_addresses_of_nothing():
    assert ha.pointer_kind(0) == ha.pointer_kind(8) == "unknown"
    assert ha.pointer_kind(np.zeros(100).ctypes.data) == "host"
    for wrong in ("5", None, 5.0):
        with pytest.raises(TypeError):
            ha.pointer_kind(wrong)
    with pytest.raises(ValueError, match="is no address"):
        ha.pointer_kind(2**64)


# ---- copies ------------------------------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("count", [1, 1024, 4086])
def test_bytes_go_in_and_out(place, kind, count):
    data = (LETTERS * 4)[:count]
    memory = filled(data, kind, place)
    out = memory.copy_to_host()
    assert isinstance(out, bytearray) and out == data
    memory.copy_from_host(data[:count // 2].upper())
    del out[:]
    gc.collect()
    array = np.zeros(count, "u1")
    assert memory.copy_to_host(array) is array
    del memory
    assert array.tobytes() == data[:count // 2].upper() + data[count // 2:]


@everywhere
def test_too_small_a_target(place, kind):
    memory, target = filled(LETTERS, kind, place), bytearray(1023)
    with pytest.raises(ValueError, match=rf"1023 bytes, too few for Memory of 1024 bytes \({kind}, {place}\)"):
        memory.copy_to_host(target)
    assert target == bytes(1023)


@everywhere
def test_a_larger_target(place, kind):
    memory, target = filled(LETTERS, kind, place), bytearray(b"-" * 1030)
    assert memory.copy_to_host(target) is target and target == LETTERS + b"------"


@everywhere
def test_targets_that_will_not_do(place, kind):
    memory = filled(LETTERS, kind, place)
    for wrong in (bytes(1024), np.zeros(2048, "u1")[::2]):
        with pytest.raises((BufferError, ValueError)):
            memory.copy_to_host(wrong)
    for wrong in (5, "text"):
        with pytest.raises(TypeError):
            memory.copy_to_host(wrong)
        with pytest.raises(TypeError):
            memory.copy_from_host(wrong)
    assert memory.copy_to_host() == LETTERS


@everywhere
def test_arrays_are_copied_in_and_out(place, kind):
    """Of this package, too: they are buffers like any."""
    values = ha.array(np.arange(100.0))
    memory = ha.Memory(800, kind, place)
    memory.copy_from_host(values)
    out = ha.zeros(100)
    with out.write() as access:
        memory.copy_to_host(access)
    assert out.tolist() == values.tolist()


@everywhere
def test_from_another_kind(place, kind):
    data = random.Random(20).randbytes(256)
    memory = ha.Memory(256, kind, place)
    for other in KINDS:
        if has(place, other):
            memory.memset()
            memory.copy_from_device(filled(data, other, place))
            assert memory.copy_to_host() == data
    memory.copy_from_device(memory)
    assert memory.copy_to_host() == data


@everywhere
def test_from_another_context(place, kind):
    memory = ha.Memory(256, kind, place)
    for there in ("sim:1", "host"):
        memory.memset(1)
        memory.copy_from_device(filled(b"abcd" * 64, "device", there))
        assert memory.copy_to_host() == b"abcd" * 64


@everywhere
def test_too_large_a_source(place, kind):
    memory = filled(LETTERS, kind, place)
    with pytest.raises(ValueError, match="copy_from_device: 1025 bytes, too many for Memory of 1024 bytes"):
        memory.copy_from_device(ha.Memory(1025, kind, place))
    with pytest.raises(ValueError, match="copy_from_host: 1025 bytes, too many for Memory of 1024 bytes"):
        memory.copy_from_host(bytes(1025))
    for wrong in (5, b"bytes", object()):
        with pytest.raises(ValueError, match="no memory of a device"):
            memory.copy_from_device(wrong)
    assert memory.copy_to_host() == LETTERS
    memory.copy_from_device(filled(b"X" * 1000, kind, place))
    memory.copy_from_host(b"")
    assert memory.copy_to_host() == b"X" * 1000 + LETTERS[1000:]


@everywhere
def test_filling(place, kind):
    memory = filled(LETTERS, kind, place)
    for byte in (0, 255, 7):
        memory.memset(byte)
        assert memory.copy_to_host() == bytes([byte]) * 1024
    memory.memset()
    assert memory.copy_to_host() == bytes(1024)
    for wrong in (-1, 256, 0x1FF):
        with pytest.raises(ValueError, match=f"memset: {wrong} is no byte"):
            memory.memset(wrong)
    with pytest.raises(TypeError):
        memory.memset("0")
    assert memory.copy_to_host() == bytes(1024)


# ---- who has it --------------------------------------------------------------------------------------------------------


@everywhere
def test_the_same_bytes(place, kind):
    memory = filled(LETTERS, kind, place)
    again = ha.Memory(memory)
    assert (again.pointer, again.nbytes, again.kind, again.context) == (memory.pointer, 1024, kind, memory.context)
    assert ha.Memory(again, kind, place).pointer == memory.pointer
    del memory
    gc.collect()
    spoilt = [ha.Memory(1024, kind, place) for _ in range(4)]
    for other in spoilt:
        other.memset(1)
    assert again.copy_to_host() == LETTERS


@everywhere
def test_kinds_are_not_mixed(place, kind):
    memory = ha.Memory(1024, kind, place)
    for other in set(KINDS) - {kind}:
        with pytest.raises(ValueError, match=f"is of another kind than {other}: copy=True"):
            ha.Memory(memory, other)
    with pytest.raises(ValueError, match="is of another context than sim:1"):
        ha.Memory(memory, kind, "sim:1")
    several = [ha.Memory(64, kind, place) for _ in range(3)]
    with pytest.raises(ValueError, match="is not aligned to 4096: copy=True"):
        ha.Memory(next(m for m in several if m.pointer % 4096), alignment=4096)
    assert ha.Memory(memory, alignment=64).pointer == memory.pointer


@everywhere
def test_a_copy_of_another_kind(place, kind):
    memory = filled(LETTERS, kind, place)
    for other in KINDS:
        if has(place, other):
            made = ha.Memory(memory, other, alignment=128, copy=True)
            assert made.kind == other and made.pointer != memory.pointer and made.pointer % 128 == 0
            assert made.copy_to_host() == LETTERS and made.context == memory.context
    assert ha.Memory(memory, "device", "sim:1", copy=True).copy_to_host() == LETTERS


@everywhere
def test_views_on_the_host(place, kind):
    memory = filled(LETTERS, kind, place)
    if told(place, kind) == "device":
        with pytest.raises(BufferError, match=rf"\(device, {place}\): the host cannot reach it; copy_to_host"):
            memoryview(memory)
        return
    one, two = memoryview(memory), memoryview(ha.Memory(memory))
    assert one == two == LETTERS and not one.readonly and one.format == "B"
    one[3] = ord("!")
    assert two[3] == ord("!") and memory.copy_to_host()[3] == ord("!")
    array = np.frombuffer(memory, "u1")
    del memory, one
    gc.collect()
    assert array[3] == ord("!") and array.flags.writeable


@everywhere
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling(place, kind, protocol):
    memory = filled(LETTERS, kind, place)
    again = pickle.loads(pickle.dumps(memory, protocol))
    assert (again.kind, again.context, again.copy_to_host()) == (kind, memory.context, LETTERS)
    assert again.pointer != memory.pointer
    other = copy.copy(memory)
    other.memset()
    assert memory.copy_to_host() == LETTERS


@everywhere
def test_handles_for_other_processes(place, kind):
    m = ha.Memory(8, kind, place)
    for refused in (m.get_ipc_handle, lambda: ha.Memory.open_ipc_handle(b"handle")):
        with pytest.raises(NotImplementedError, match="not shared between processes.*copy_to_host"):
            refused()


def test_corrupt_pickles():
    text = pickle.dumps(ha.Memory(10, "shared"), 0)
    for right, wrong, error in [(b"shared", b"shaded", ValueError), (b"host", b"hose", LookupError)]:
        assert right in text
        with pytest.raises(error, match=wrong.decode()):
            pickle.loads(text.replace(right, wrong))


# ---- arrays on it ------------------------------------------------------------------------------------------------------


@everywhere
def test_arrays_on_it(place, kind):
    """Without a copy: what is done to the array is in the memory when the array has gone, wherever it was done."""
    memory = filled(np.arange(6.0).tobytes(), kind, place)
    array = ha.wrap(memory, dtype="f8", shape=(2, 3), name="on it")
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    where = "host" if kind == "host" else place
    with array.read(where) as access:
        assert access.pointer == memory.pointer
    with array.write("sim:0"):
        pass
    array[...] = 7
    del array, access
    assert np.frombuffer(memory.copy_to_host()).tolist() == [7] * 6


@everywhere
def test_arrays_keep_it(place, kind):
    array = ha.wrap(filled(LETTERS, kind, place))
    gc.collect()
    assert array.dtype == "uint8" and array.shape == (1024,)
    assert bytes(array[::2]) == LETTERS[::2]
    view = array[1:]
    del array
    gc.collect()
    spoilt = ha.Memory(1024, kind, place)
    spoilt.memset(1)
    assert bytes(view) == LETTERS[1:]


@everywhere
def test_one_array_at_a_time(place, kind):
    """And no copies past it, nor views that would not see what it does."""
    memory = filled(LETTERS, kind, place)
    array = ha.wrap(memory, name="first")
    for refused in (lambda: ha.wrap(memory), lambda: ha.wrap(ha.Memory(memory)), lambda: memory.memset(1),
                    lambda: memory.copy_from_host(b"1")):
        with pytest.raises(RuntimeError, match="'first'"):
            refused()
    if told(place, kind) != "device":
        with pytest.raises(BufferError, match="is an array's"):
            memoryview(ha.Memory(memory))
    del array
    gc.collect()
    if told(place, kind) != "device":
        with memoryview(memory):
            with pytest.raises(BufferError, match="is exported as a buffer"):
                ha.wrap(memory)
    assert bytes(ha.wrap(memory)) == LETTERS


def test_shapes_of_arrays_on_it():
    memory = ha.Memory(100)
    for dtype, shape, made in [("f8", None, (12,)), (None, (10, 10), (10, 10)), ("f8", 3, (3,))]:
        array = ha.wrap(memory, dtype=dtype, shape=shape)
        assert array.shape == made and array.dtype == ("float64" if dtype else "uint8")
        del array
    for wrong in (13, (4, 4), (2**40, 2**40), (-1,), (2**62, 4)):
        with pytest.raises(ValueError, match="Memory of 100 bytes .* has room for 12 elements of float64"):
            ha.wrap(memory, dtype="f8", shape=wrong)
    with pytest.raises(TypeError, match="dtype and shape are for a Memory"):
        ha.wrap(bytearray(8), dtype="f8")
    assert ha.array(memory).shape == (100,)


# ---- at length ---------------------------------------------------------------------------------------------------------


@everywhere
def test_it_is_given_back(place, kind):
    context = ha.context(place)
    gc.collect()
    before = context.memory["live"]
    several = [ha.Memory(1 << 20, kind, place) for _ in range(3)]
    arrays = [ha.wrap(memory) for memory in several]
    died = weakref.ref(arrays[0])
    del several, arrays
    gc.collect()
    assert context.memory["live"] == before and died() is None


@everywhere
def test_threads(place, kind):
    """Each has its own, and all copy from one."""
    source, wrong = filled(LETTERS, kind, place), []

    def work(number):
        for turn in range(20):
            memory = ha.Memory(1024, kind, place)
            memory.memset(number)
            if memory.copy_to_host() != bytes([number]) * 1024:
                wrong.append((number, turn))
            memory.copy_from_device(source)
            if memory.copy_to_host() != LETTERS:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@everywhere
def test_alive_at_the_end(place, kind):
    """Of the interpreter, and in the child of a fork, where nothing is given back."""
    program = f"""
import os, sys, threading
import harray as ha
kept = ha.Memory(1000, {kind!r}, {place!r})
wrapped = ha.wrap(ha.Memory(1000, {kind!r}, {place!r}), dtype="f8")
view = memoryview(ha.Memory(1000, "host", {place!r}))
if {place == "host"} and os.fork() == 0: # devices are the parent's alone
    del kept, wrapped, view
    os._exit(0)
elif {place == "host"}:
    assert os.wait()[1] == 0
kept.memset(5)
print(bytes(kept.copy_to_host()) == bytes([5]) * 1000)
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def again(**environment):
    """All of this, in an interpreter with other devices."""
    tests = pathlib.Path(__file__).resolve()
    done = subprocess.run([sys.executable, "-X", "dev", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(tests)],
                          env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


first_of_all = pytest.mark.skipif("HARRAY_TEST_PLACES" in os.environ, reason="it is such an interpreter already")


@first_of_all
def test_on_a_unified_device():
    again(HARRAY_TEST_PLACES="sim:0", HARRAY_SIM="unified=1")


def stand_in(folder, name):
    """A library in the place of a driver's, on the host's memory."""
    compiler, source = shutil.which("cc"), ROOT / "tests" / "backends" / (name + ".c")
    if not compiler or not source.exists():
        pytest.skip("a C compiler and the repository's tests are needed")
    library = folder / (name + ".so")
    subprocess.run([compiler, "-shared", "-fPIC", "-I", str(ROOT), "-o", str(library), str(source), "-pthread", "-ldl"], check=True)
    return library


@first_of_all
def test_over_a_stand_in_of_cuda(tmp_path):
    again(HARRAY_TEST_PLACES="cuda:0", HARRAY_CUDA=f"library={stand_in(tmp_path, 'fake_libcuda')}")


@first_of_all
def test_over_a_stand_in_of_sycl(tmp_path):
    again(HARRAY_TEST_PLACES="sycl:0", HARRAY_SYCL=f"library={stand_in(tmp_path, 'fake_sycl')}")


@first_of_all
def test_over_dpctl():
    library = next(dpctl_device.folder().glob("libDPCTLSyclInterface.so*"))
    again(HARRAY_TEST_PLACES="sycl:0", HARRAY_SYCL=f"library={library}")


@first_of_all
@pytest.mark.parametrize("options", ["", "memory=usm"])
def test_over_opencl(options):
    program = "import harray; print(harray.context('opencl:0'))"
    environment = {"HARRAY_OPENCL": options} if options else {}
    tried = subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True,
                           timeout=100, check=False)
    if tried.returncode:
        pytest.skip(tried.stderr.strip().split("\n")[-1])
    again(HARRAY_TEST_PLACES="opencl:0", **environment)
