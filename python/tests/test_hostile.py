"""What is passed, named and freed in ways that a program would not choose, and may meet."""
import ctypes
import gc
import sys
import threading
import time

import numpy as np
import pytest

import fake_cupy
import harray as ha


def test_names_that_are_cut_in_a_letter():
    x = ha.zeros(3, name="x" + "é" * 40) # 47 bytes are kept, which ends in the middle of one
    assert x.name.startswith("xéé") and "x" in repr(x)
    with x.read() as access:
        view = memoryview(access)
        assert ha.exports()[0]["array"].startswith("xé")
        with pytest.raises(BufferError, match="xé"):
            x.write()
        view.release()


def test_reports_of_names_that_are_cut_in_a_letter():
    library = ctypes.CDLL(ha.get_library())
    library.ha_watch(1) # arrays that are made from now on are in the report
    try:
        x = ha.zeros(3, name="x" + "é" * 40)
        x.write().close()
        assert "xéé" in str(ha.report())
    finally:
        library.ha_watch(0)


def test_controllers_hear_names_that_are_cut_in_a_letter():
    heard = []

    class Watch(ha.Controller):
        def freed(self, array):
            heard.append(array.name)

    ha.set_controller(Watch())
    try:
        ha.zeros(3, name="x" + "é" * 40)
    finally:
        ha.set_controller(None)
    assert heard and heard[-1].startswith("xé")


@pytest.mark.parametrize("last", [0, slice(None), ...])
def test_more_dimensions_than_there_are(last):
    with pytest.raises((ValueError, IndexError)):
        ha.zeros(3)[(None,) * 40 + (last,)] # pylint: disable=expression-not-assigned


@pytest.mark.parametrize("shape", [(2**32, 2**32, -1), (2**62, 4, -1), (2**63 - 1, 3, -1), (-1, -2)])
def test_reshape_beyond_64_bits(shape):
    with pytest.raises(ValueError):
        ha.zeros(4).reshape(*shape)


def test_no_dtype_is_the_usual_one():
    assert ha.full(2, 3, None).dtype == "int64" and ha.zeros(2, None).dtype == "float64"


def test_numbers_of_numpy():
    ha.set_budget("sim:0", np.int64(1 << 30))
    ha.set_budget("sim:0", 0)
    assert ha.zeros((2, 3)).flip(np.int64(1)).shape == (2, 3)
    for wrong in (-1, 1 << 64, np.int64(-1)):
        with pytest.raises(ValueError):
            ha.set_budget("sim:0", wrong)
    with pytest.raises(TypeError):
        ha.set_budget("sim:0", 1.5)


class Producer:
    """Of DLPack, with a device of anybody's choice."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        raise AssertionError("not to be asked")


@pytest.mark.parametrize("device, error", [((10, 0), NotImplementedError), ([1, 0], TypeError), (None, TypeError),
                                           ((1,), TypeError), ((1, 2**40), OverflowError), (("a", 0), TypeError)])
def test_devices_of_dlpack_that_there_are_not(device, error):
    with pytest.raises(error):
        ha.from_dlpack(Producer(device))
    with pytest.raises(error):
        ha.wrap(Producer(device))


def test_arguments_of_dlpack_that_are_no_pairs():
    x = ha.zeros(3)
    with x.read() as access:
        for name in ("max_version", "dl_device"):
            for wrong in ([1, 0], 1, "ab", (1,), (1, 0, 0)):
                for of in (x, access):
                    with pytest.raises(TypeError):
                        of.__dlpack__(**{name: wrong})


@pytest.mark.parametrize("where", ["host", pytest.param("cuda:0", marks=pytest.mark.skipif(
    not fake_cupy.IS_THERE, reason="there is no fake driver of CUDA"))])
def test_closing_while_another_thread_exports(where):
    """Closing is refused while one is being exported, and exporting when it was closed; afterwards nothing is open."""
    x, interval = ha.array(np.arange(1000.0)), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            access, begun, told = x.write(where), threading.Event(), []
            thread = threading.Thread(target=_export_often, args=(access, begun, told))
            thread.start()
            begun.wait()
            while not access.closed:
                try:
                    access.close()
                except BufferError as error: # it was being exported
                    assert "still exported" in str(error)
                    time.sleep(0)
            thread.join()
            assert told[0] == "exported" and set(told) <= {"exported", "closed"} and not ha.exports()
            x.write(where).close()
    finally:
        sys.setswitchinterval(interval)
    assert x.tolist() == list(range(1000))


def _export_often(access, begun, told):
    while "closed" not in told and len(told) < 200:
        try:
            assert "dltensor_versioned" in repr(access.__dlpack__(max_version=(1, 0)))
            told.append("exported")
        except ValueError as error:
            assert "closed" in str(error)
            told.append("closed")
        finally:
            begun.set()


def test_closing_while_arguments_are_read():
    class Stream:
        """A number that closes the access which it is for."""
        def __index__(self):
            access.close()
            return 1
    x = ha.zeros(3)
    access = x.write()
    with pytest.raises(ValueError, match="closed"):
        access.__dlpack__(stream=Stream(), max_version=(1, 0))
    assert not ha.exports()
    x.write().close()


def test_what_is_released_while_an_exception_is_on_its_way():
    class Owner(bytearray):
        def __del__(self):
            freed.append(1)
            raise RuntimeError("in the destructor") from None

    freed, seen = [], []
    before, sys.unraisablehook = sys.unraisablehook, lambda told: seen.append(told.exc_type)
    try:
        with pytest.raises(KeyError, match="mine"):
            x = ha.wrap(Owner(80))
            try:
                raise KeyError("mine")
            finally:
                del x
                gc.collect()
    finally:
        sys.unraisablehook = before
    assert freed == [1] and seen == [RuntimeError]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ZeroDivisionError, SystemExit, MemoryError])
@pytest.mark.parametrize("method", ["__float__", "__index__", "__complex__"])
def test_numbers_that_raise(method, raised):
    def fail(self):
        raise raised
    number = type("Number", (), {method: fail})()
    x, kernel = ha.zeros(3), ha.kernel("set", "(value, double, a), (out, double, x)", "i", "x[i] = a;")
    for use in (lambda: x.__setitem__(0, number), lambda: ha.full(3, number), lambda: ha.ops.add(x, number), lambda: kernel("host", 3, number, x)):
        with pytest.raises(raised):
            use()
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", ["__float__", "__index__", "__complex__"])
def test_numbers_that_are_none(method):
    number = type("Number", (), {method: lambda self: "a text"})()
    x = ha.zeros(3)
    for use in (lambda: x.__setitem__(0, number), lambda: ha.full(3, number), lambda: ha.ops.add(x, number)):
        with pytest.raises(TypeError):
            use()
