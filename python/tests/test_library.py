"""Kernels that a library in C exports."""
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import harray as ha

SOURCE = r"""
#include <harray_ops.h>
HA_DEVICE_CODE(square, HA_FN int32_t squared(int32_t x) { return x * x; });
HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i, { y[i] += a * x[i]; });
HA_KERNEL_EXPORT(axpy);
HA_KERNEL(squares, ((uses, square), (option, block, 64), (inout, int, x)), i, { x[i] = squared(x[i]); });
HA_KERNEL_EXPORT(squares);
HA_KERNEL(relax, ((value, float, k), (in, array_float_2, u), (out, array_float_2, w)), (j, i), {
    HA_AT(w, j, i) = HA_AT(u, j, i) + k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) - 2 * HA_AT(u, j, i));
});
HA_KERNEL_EXPORT(relax);
HA_REDUCE(total, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_KERNEL_EXPORT(total);
HA_TEAM_KERNEL(shared_out, 4, g, ((out, int32_t, x)), { HA_LANES(l) HA_SHARE(i, l, 0, HA_SIZE(x)) x[i] = (int32_t)g; });
HA_KERNEL_EXPORT(shared_out);
HA_KERNEL(at_home, ((out, int32_t, x)), i, { x[i] = 1; });
extern __attribute__((visibility("default"))) const ha_kernel_exported_ ha_exported_old, ha_exported_other;
const ha_kernel_exported_ ha_exported_old = {"0.0.9", &at_home_kernel, ha_kernel_launch_};
static ha_status other(const ha_kernel *kernel, ha_context *context, const ha_region *box, const void *const *given) {
    (void)kernel, (void)context, (void)box, (void)given;
    return HA_OK;
}
const ha_kernel_exported_ ha_exported_other = {HARRAY_VERSION, &at_home_kernel, other};
"""


@pytest.fixture(name="solver", scope="module")
def make_library(tmp_path_factory):
    if not shutil.which("cc") or not pathlib.Path(ha.get_include(), "harray.h").exists():
        pytest.skip("there is no C compiler, or the package is not installed")
    folder = tmp_path_factory.mktemp("solver")
    source, made = folder / "solver.c", folder / "libsolver.so"
    source.write_text(SOURCE, encoding="utf-8")
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-I", ha.get_include(),
                    source, ha.get_library(), "-o", made], check=True)
    return ha.Library(made)


@pytest.mark.parametrize("where", ["host", "sim:0", "opencl:0"])
def test_they_run_everywhere(solver, where):
    try:
        ha.context(where)
    except (LookupError, RuntimeError):
        pytest.skip(f"there is no {where}")
    x, y = ha.array(np.arange(1000.0), name="x"), ha.full(1000, 1.0, name="y")
    solver.axpy(where, 1000, 2, x, y)
    solver.axpy(where, ((10, 20),), 1.0, x, y)
    expected = 1 + 2 * np.arange(1000.0)
    expected[10:20] += np.arange(10, 20)
    assert np.array_equal(np.asarray(y), expected) and solver.axpy is solver.axpy
    n = ha.array([1, 2, 3], "i4")
    solver.squares(where, 3, n)
    assert n.tolist() == [1, 4, 9]
    a = np.random.default_rng(1).random((20, 60), "f4")
    u, w = ha.array(a), ha.zeros((20, 30), "f4")
    solver.relax(where, ((1, 19), 30), 0.25, u[:, ::2], w)
    a = a[:, ::2]
    np.testing.assert_allclose(np.asarray(w)[1:-1], a[1:-1] + np.float32(0.25) * (a[:-2] + a[2:] - 2 * a[1:-1]), rtol=1e-6)


@pytest.mark.parametrize("name, error, words", [
    ("at_home", AttributeError, r"libsolver.so exports no kernel 'at_home': HA_KERNEL_EXPORT\(at_home\) does"),
    ("total", NotImplementedError, "total: 'the result'"), ("shared_out", NotImplementedError, "shared_out: .*teams"),
    ("old", ImportError, "libsolver.so: it was compiled with harray 0.0.9"),
    ("other", ImportError, r"libsolver.so: it has another harray inside.*harray.get_library\(\)")])
def test_what_is_refused(solver, name, error, words):
    with pytest.raises(error, match=words):
        getattr(solver, name)


def test_wrong_arguments(solver):
    with pytest.raises(TypeError, match="axpy: 'y' has elements of float64, not float32"):
        solver.axpy("host", 3, 1, ha.zeros(3), ha.zeros(3, "f4"))
    with pytest.raises(TypeError, match="axpy: 'a' is a number"):
        solver.axpy("host", 3, ha.zeros(3), ha.zeros(3), ha.zeros(3))
    with pytest.raises(TypeError, match="squares takes 1 arguments"):
        solver.squares("host", 3)
    with pytest.raises(TypeError, match="relax: lanes of 2 dimensions"):
        solver.relax("host", 3, 0.25, ha.zeros((3, 3), "f4"), ha.zeros((3, 3), "f4"))
    x, y = ha.zeros(3, name="x"), ha.zeros(3, name="y")
    a, b = np.asarray(x), np.asarray(y)
    with pytest.raises(BufferError, match="; 'y' is exported: buffer at test_library.py:[0-9]*; x.numpy"): # x is only read
        solver.axpy("host", 3, 1, x, y)
    del a, b
    with pytest.raises(OSError):
        ha.Library("/nowhere/libnothing.so")
