"""SYCL devices, over a library that has dpctl's functions and the host's memory; over dpctl's own where that is installed
and finds a device with memory of its own."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import dpctl_device
import pytest

FAKE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "backends" / "fake_sycl.c"


def run(program, library):
    """In an interpreter of its own, as libraries stay; its output."""
    start = f"import os\nos.environ['HARRAY_SYCL'] = 'library={library}'\n" if library else "import dpctl\n"
    done = subprocess.run([sys.executable, "-X", "dev", "-c", start + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session", name="fake")
def _fake(tmp_path_factory):
    compiler = shutil.which("cc")
    if not compiler or not FAKE.exists():
        pytest.skip("a C compiler and the repository's tests are needed")
    library = tmp_path_factory.mktemp("sycl") / "libfake_sycl.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(FAKE), "-pthread", "-ldl"], check=True)
    return library


ARRAYS = """
    import harray as ha, numpy as np
    gpu = ha.context("sycl:0")
    x = ha.array(np.arange(1000.0), name="x")
    with x.write(gpu) as v:
        assert v.pointer and v.stream and v.context == gpu
        try:
            memoryview(v)
            raise SystemExit("the host cannot reach it")
        except BufferError:
            pass
    assert x.residency["sycl:0"] == "dirty"
    assert (x.numpy() == np.arange(1000.0)).all()
    y = x[::-2].copy()
    with y.read(gpu), x.read(gpu):
        pass
    assert y.tolist() == list(np.arange(1000.0)[::-2])
    assert gpu in ha.devices() and ha.best() != gpu
    ha.set_budget(gpu, 1 << 20)
    many = [ha.full(60000, i) for i in range(8)]
    for z in many:
        with z.write(gpu):
            pass
    assert [z[59999] for z in many] == list(range(8)) and gpu.pressure["evictions"]
    print("passed")
"""


def test_arrays(fake):
    assert run(ARRAYS, fake) == "passed\n"


KERNELS = """
    import harray as ha, numpy as np
    gpu = ha.context("sycl:0")
    x, y = ha.array(np.arange(1000.0)), ha.full(1000, 1.0)
    axpy = ha.kernel("axpy", "(value, double, a), (in, double, x), (inout, double, y)", "i", "y[i] += a * x[i];")
    try:
        axpy(gpu, 1000, 2, x, y)
    except NotImplementedError as error:
        if "the device has no compiler" not in str(error):
            raise
        print("skipped") # over the stand-in where OpenCL has no device of the host's
        raise SystemExit
    assert y.residency["sycl:0"] == "dirty" and (np.asarray(y) == 1 + 2 * np.arange(1000.0)).all()

    a = np.random.default_rng(1).random((20, 30), "f4")
    u, w = ha.array(a), ha.zeros((20, 30), "f4")
    shift = ha.kernel("shift", "(in, array_float_2, u), (out, array_float_2, w)", "(j, i)", "HA_AT(w, j, i) = 2 * HA_AT(u, j - 1, i);")
    shift(gpu, ((1, 20), 30), u, w)
    assert (np.asarray(w)[1:] == 2 * a[:-1]).all() and not np.asarray(w)[0].any()
    z, h = ha.array([1j, 2.0]), ha.array([1, 2], "f2")
    ha.kernel("turn", "(value, c128, f), (inout, c128, z)", "i", "z[i] = ha_c128_mul(z[i], f);")(gpu, 2, 2j, z)
    ha.kernel("halve", "(inout, half, h)", "i", "h[i] = ha_half_of_float(ha_half_to_float(h[i]) / 2);")(gpu, 2, h)
    assert z.tolist() == [-2, 4j] and h.tolist() == [0.5, 1]

    wrong = ha.kernel("wrong", "(inout, float, x)", "i", "x[i] = no_such_thing;")
    try:
        wrong(gpu, 3, ha.zeros(3, "f4"))
        raise SystemExit("not refused")
    except ha.DeviceError as error:
        assert error.status == "HA_ERR_COMPILE" and "no_such_thing" in str(error) and "no_such_thing" in wrong.log(gpu)

    a, b = np.random.default_rng(2).random((2, 30, 40))
    x, y = ha.array(a), ha.array(b)
    with x.write(gpu), y.write(gpu):
        pass
    with ha.no_transfers():
        total = ha.ops.add(x, y, on=gpu)
    assert (np.asarray(total) == a + b).all() and np.allclose(np.asarray(ha.ops.add(x.T, y.T, on=gpu)), (a + b).T)
    assert ha.ops.greater(x, y, on=gpu).residency["sycl:0"] == "dirty"
    assert np.isclose(ha.ops.sum(x, on=gpu), a.sum()) and ha.ops.max(y, on=gpu) == b.max()
    small = [ha.array(n[0, :5], "f2") for n in (a[None], b[None])]
    assert (np.asarray(ha.ops.add(*small, on=gpu)) == np.asarray(small[0]) + np.asarray(small[1])).all()
    print("passed")
"""


def test_kernels(fake):
    if run(KERNELS, fake) == "skipped\n":
        pytest.skip("OpenCL has no device that computes on the host's memory")


BEST = """
    import os, sys, types
    import harray as ha
    other = ha.best()
    assert other.kind != "sycl" and ha.context("best") == other
    sys.modules["dpctl"] = None # what forbids to import it
    assert ha.best() == other
    sys.modules["dpctl"] = types.ModuleType("dpctl")
    assert ha.best() == ha.context("best") == ha.context("sycl:1") # the stand-in's GPU
    os.environ["HARRAY_DEVICE"] = "host"
    assert ha.best() == ha.host
    os.environ["HARRAY_DEVICE"] = "best"
    assert ha.best().name == "sycl:1"
    print("passed")
"""


def test_the_best_where_dpctl_is(fake):
    assert run(BEST, fake) == "passed\n"


def test_the_best_without_the_library():
    assert run("""
        import sys, types
        sys.modules["dpctl"] = types.ModuleType("dpctl")
        import harray as ha
        assert ha.best().kind != "sycl"
        print("passed")
    """, "/nowhere.so") == "passed\n"


def test_too_large_a_block(fake):
    assert run("""
        import harray as ha
        x = ha.empty((3 << 30,), "i1")
        try:
            x.overwrite("sycl:0")
        except MemoryError:
            print("passed")
    """, fake) == "passed\n"


def test_queues_of_the_callers(fake):
    """Only those that are in order, and of the context that has the memory."""
    assert run(f"""
        import ctypes as C, harray as ha
        library = C.CDLL({str(fake)!r})
        for name in "Mgr_GetDevices Vector_GetAt Mgr_GetCachedContext".split():
            getattr(library, "DPCTLDevice" + name).restype = C.c_void_p
        library.DPCTLQueue_Create.restype = C.c_void_p
        devices = C.c_void_p(library.DPCTLDeviceMgr_GetDevices(1))
        def queue(number, properties):
            device = C.c_void_p(library.DPCTLDeviceVector_GetAt(devices, C.c_size_t(number)))
            context = C.c_void_p(library.DPCTLDeviceMgr_GetCachedContext(device))
            return library.DPCTLQueue_Create(context, device, None, properties)
        for wrong in (queue(2, 2), queue(0, 0)):
            try:
                ha.adopt("sycl:0", wrong)
                raise SystemExit("not refused")
            except ValueError:
                pass
        own = ha.adopt("sycl:0", queue(0, 2))
        x = ha.full(10, 3)
        with x.write(own):
            pass
        own.finish()
        assert x.tolist() == [3] * 10
        own.unfork()
        print("passed")
    """, fake) == "passed\n"


def test_without_the_library():
    assert run("""
        import harray as ha
        try:
            ha.context("sycl:0")
        except LookupError as error:
            assert "nowhere.so" in str(error), error
            print("passed")
    """, "/nowhere.so") == "passed\n"


def test_over_dpctl():
    dpctl_device.folder()
    assert run(ARRAYS, None) == "passed\n"


def test_writing_to_what_is_read_is_told():
    dpctl_device.folder()
    assert run("""
        import os
        os.environ["HARRAY_VERIFY_READS"] = "1"
        import dpctl.memory, numpy as np, pytest, harray as ha
        x = ha.array(np.arange(6.0), name="x")
        with x.read("sycl:0") as v:
            dpctl.memory.as_usm_memory(v).copy_to_host()
        with pytest.raises(RuntimeError, match="'x' was exported for reading .__sycl_usm_array_interface__ at .*written to at sycl:0"):
            with x.read("sycl:0") as v:
                dpctl.memory.as_usm_memory(v).memset(7)
        print("passed")
    """, None) == "passed\n"


@pytest.mark.skipif(not importlib.util.find_spec("dpnp"), reason="dpnp is not installed")
def test_arrays_of_dpnp():
    """Both directions, without copies."""
    dpctl_device.folder()
    assert run("""
        import dpnp, numpy as np, harray as ha
        gpu, x = ha.context("sycl:0"), ha.array(np.arange(6.0).reshape(2, 3), name="x")
        with x[:, ::2].write(gpu) as v:
            a = dpnp.asarray(dpnp.tensor.asarray(v)) # dpnp.asarray(v) is a copy
            a *= 2
            del a
        assert x.tolist() == [[0, 1, 4], [6, 4, 10]]
        d = dpnp.arange(12.0).reshape(3, 4)
        for shown in (d, d[::2, 1:], d.T):
            y = ha.wrap(shown)
            assert y.residency == {"sycl:0": "dirty"} and (y.numpy() == dpnp.asnumpy(shown)).all()
            y[...] = y.numpy() + 1
            y.sync()
            del y
        assert dpnp.asnumpy(d)[0].tolist() == [2, 4, 5, 6] and dpnp.asnumpy(d)[1].tolist() == [6, 7, 8, 9]
        assert (ha.array(d, copy=True).numpy() == dpnp.asnumpy(d)).all()
        print("passed")
    """, None) == "passed\n"


def test_kernels_over_dpctl():
    dpctl_device.folder()
    assert run(KERNELS, None) == "passed\n"


@pytest.mark.parametrize("name, seen", [("test_backend", "copies_inside_the_device"), ("test_sycl_kernels", "numbers_structs")])
def test_backend_over_dpctl(tmp_path, name, seen):
    """What every backend must do, and kernels, in C."""
    program, package = tmp_path / name, dpctl_device.folder()
    compiled = subprocess.run(["cc", "-std=gnu11", "-O0", "-DHARRAY_NO_SIMD", "-DHARRAY_WITH_SYCL", "-o", program,
                               FAKE.parent / f"{name}.c", "-lcmocka", "-lm", "-ldl", "-pthread"], capture_output=True, text=True, check=False)
    if compiled.returncode and "cmocka" in compiled.stderr:
        pytest.skip("there is no cmocka")
    assert compiled.returncode == 0, compiled.stderr
    lib = pathlib.Path(sys.prefix) / "lib"
    done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=False, env=os.environ | {
        "HARRAY_TEST_KIND": "sycl", "HARRAY_SYCL": f"library={package / 'libDPCTLSyclInterface.so'}", "LD_LIBRARY_PATH": str(lib)})
    assert done.returncode == 0 and seen in done.stdout + done.stderr, done.stdout + done.stderr
