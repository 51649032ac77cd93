"""Kernels from Python, on a device of OpenCL; without one what is refused before."""
import os
import pathlib
import resource
import subprocess
import sys

import numpy as np
import pytest

import fake_cupy
import harray as ha

AXPY = ("axpy", "(value, double, a), (in, double, x), (inout, double, y)", "i", "y[i] += a * x[i];")
RELAX = ("relax", "(value, float, k), (in, array_float_2, u), (out, array_float_2, w)", "(j, i)", """
    HA_AT(w, j, i) = HA_AT(u, j, i) + k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) - 2 * HA_AT(u, j, i));
""")


@pytest.fixture(name="device")
def find_device():
    for kind in ("opencl:0",) if fake_cupy.IS_THERE else ("cuda:0", "opencl:0"): # the fake has no compiler
        try:
            return ha.context(kind)
        except (LookupError, RuntimeError):
            pass
    return pytest.skip("there is no device that compiles kernels")


def test_axpy(device):
    axpy, x, y = ha.kernel(*AXPY), ha.array(np.arange(1000.0), name="x"), ha.full(1000, 1.0, name="y")
    axpy(device, 1000, 2, x, y)
    axpy(device, ((10, 20),), 1.0, x, y)
    expected = 1 + 2 * np.arange(1000.0)
    expected[10:20] += np.arange(10, 20)
    assert np.array_equal(np.asarray(y), expected) and repr(axpy) == "<harray.Kernel axpy>"
    assert ha.kernel(*AXPY)._kernel is axpy._kernel


def test_views(device):
    a = np.random.default_rng(1).random((20, 30), "f4")
    u, w = ha.array(a), ha.zeros((20, 30), "f4")
    ha.kernel(*RELAX)(device, ((1, 19), 30), 0.25, u, w)
    expected = a[1:-1] + np.float32(0.25) * (a[:-2] + a[2:] - 2 * a[1:-1])
    np.testing.assert_allclose(np.asarray(w)[1:-1], expected, rtol=1e-6)
    assert not np.asarray(w)[0].any()


@pytest.mark.parametrize("kind", ha._kernels._TYPES)
def test_values_of_each_type(device, kind):
    dtype = ha._kernels._TYPES[kind]
    x = ha.zeros(3, dtype)
    ha.kernel(f"put_{kind}", f"(value, {kind}, a), (out, {kind}, x)", "i", "x[i] = a;")(device, 3, 1, x)
    assert x.tolist() == [1, 1, 1]


def test_functions_in_front(device):
    square = ha.kernel("square", "(inout, int32_t, x)", "i", "x[i] = squared(x[i]);", uses="HA_FN int squared(int x) { return x * x; }")
    x = ha.array([1, 2, 3], "i4")
    square(device, 3, x)
    assert x.tolist() == [1, 4, 9]


def test_a_body_that_does_not_compile(device):
    wrong = ha.kernel("wrong", "(inout, float, x)", "i", "x[i] = no_such_thing;")
    with pytest.raises(ha.DeviceError, match="wrong|no_such_thing") as caught:
        wrong(device, 3, ha.zeros(3, "f4"))
    assert caught.value.status == "HA_ERR_COMPILE" and "no_such_thing" in wrong.log(device)


def test_where_nothing_compiles():
    with pytest.raises(NotImplementedError, match="axpy.*opencl:0"):
        ha.kernel(*AXPY)("sim:0", 3, 1.0, ha.zeros(3), ha.zeros(3))


@pytest.fixture(name="pocl")
def find_pocl():
    """Whether the host's kernels can be compiled here."""
    try:
        ha.kernel("probe", "(out, float, x)", "i", "x[i] = 1;")("host", 1, ha.zeros(1, "f4"))
    except NotImplementedError as error:
        assert "PoCL" in str(error)
        pytest.skip("there is no PoCL")


def test_on_the_host(pocl): # pylint: disable=unused-argument
    """As by its own loops: the values are there, also in memory that is the caller's."""
    theirs = np.ones(1000)
    axpy, x, y = ha.kernel(*AXPY), ha.array(np.arange(1000.0)), ha.wrap(theirs)
    axpy("host", 1000, 2, x, y)
    assert np.array_equal(theirs, 1 + 2 * np.arange(1000.0))
    with ha.no_transfers():
        assert y.tolist() == theirs.tolist() and x[5] == 5
        with pytest.raises(RuntimeError, match="PoCL's opencl:.*transfers are refused"): # also where it finds all that it reads
            axpy("host", 1000, 2, x, y)
    y[0] = 7 # back and forth
    with ha.on(ha.host):
        axpy(None, ((0, 1),), 1, ha.full(1000, 3.0), y)
    assert theirs[0] == 10 and theirs[1] == 3
    a = np.random.default_rng(1).random((20, 30), "f4")
    w = ha.zeros((20, 30), "f4")
    ha.kernel(*RELAX)("host", ((1, 19), 30), 0.25, ha.array(a), w[:, :])
    np.testing.assert_allclose(np.asarray(w)[1:-1], a[1:-1] + np.float32(0.25) * (a[:-2] + a[2:] - 2 * a[1:-1]), rtol=1e-6)
    with x.read("sim:0"), y.write("sim:0") as v:
        assert v.context.name == "sim:0"
    del v
    axpy("host", 1000, 1, x, y)
    assert theirs[1] == 3 + 1


def test_what_the_host_refuses(pocl): # pylint: disable=unused-argument
    wrong, x = ha.kernel("wrong_here", "(inout, float, x)", "i", "x[i] = no_such_thing;"), ha.zeros(3, "f4")
    with pytest.raises(ha.DeviceError, match="no_such_thing"):
        wrong("host", 3, x)
    assert "no_such_thing" in wrong.log("host") and x.tolist() == [0, 0, 0]
    with x.write() as v, pytest.raises(BufferError): # of this thread, as everywhere
        ha.kernel("zero", "(out, float, x)", "i", "x[i] = 0;")("host", 3, x)
    del v


def test_on_the_host_without_pocl():
    program = """import harray as ha
try:
    ha.kernel("zero", "(out, float, x)", "i", "x[i] = 0;")("host", 3, ha.zeros(3, "f4"))
except NotImplementedError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "HARRAY_OPENCL": "platform=No Such Maker"})
    assert "zero: on the host kernels from Python are compiled by PoCL" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("arguments, words", [
    ((3, 1.0, ha.zeros(3)), "takes 3 arguments"), (((3, 3), 1.0, ha.zeros(3), ha.zeros(3)), "lanes of 1 dimensions"),
    ((3, ha.zeros(3), ha.zeros(3), ha.zeros(3)), "'a' is a number"), ((3, "a", ha.zeros(3), ha.zeros(3)), "'a' is a number"),
    ((3, 1.0, np.zeros(3), ha.zeros(3)), "'x' is an array"), ((3, 1.0, ha.zeros(3, "f4"), ha.zeros(3)), "'x' has elements of float64"),
    ((3, 1.0, ha.zeros(3), ha.zeros(6)[::2]), "'y' is a whole array"), ((2.5, 1.0, ha.zeros(3), ha.zeros(3)), "integer")])
def test_wrong_arguments(arguments, words):
    with pytest.raises(TypeError, match=words):
        ha.kernel(*AXPY)("host", *arguments)
    with pytest.raises(ValueError, match="128 .*does not fit.*; it is parameter 's' of small$"):
        ha.kernel("small", "(value, int8_t, s), (out, double, y)", "i", "y[i] = s;")("host", 3, 128, ha.zeros(3))
    with pytest.raises(TypeError, match="'u' has 2 dimensions, not 1"):
        ha.kernel(*RELAX)("host", (3, 3), 1, ha.zeros(3, "f4"), ha.zeros((3, 3), "f4"))


@pytest.mark.parametrize("change, words", [
    ({0: "a b"}, "no name"), ({1: "(value, float, a)"}, "an array"), ({1: "(look, float, a)"}, "mode"), ({1: "(in, string, a)"}, "type"),
    ({1: "(value, array_float_2, a)"}, "type"), ({1: "in float a"}, "parameters are"), ({2: "(a, b, c, d)"}, "index"), ({2: "1"}, "index"),
    ({1: ", ".join(f"(in, float, x{i})" for i in range(12))}, "12 parameters")])
def test_wrong_kernels(change, words):
    with pytest.raises(ValueError, match=words):
        ha.kernel(*(change.get(i, part) for i, part in enumerate(AXPY)))


def test_what_fails_leaves_nothing():
    """Of a kernel that is refused when its texts have been copied."""
    text, wrong = "x" * (1 << 20), ((2, 0, "f8", "t" * (1 << 20), "x"), (2, 0, "no type", "double", "y"))
    resident = lambda: int(pathlib.Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    def attempt():
        with pytest.raises(TypeError, match="no type"):
            ha._harray._kernel("refused", 1, "i", text, text, wrong)
    attempt()
    before = resident()
    for _ in range(300):
        attempt()
    assert resident() - before < 100 << 20
    with pytest.raises(ValueError, match="12"):
        ha._harray._kernel("refused", 1, "i", text, None, wrong[:1] * 13)
