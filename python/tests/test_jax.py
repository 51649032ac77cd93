"""JAX itself, on the host: its arrays of harray's, and the other way round."""
import gc
import os
import subprocess
import sys
import time

import numpy as np
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", exc_type=ImportError)

import jax.numpy as jnp # pylint: disable=wrong-import-position

import harray as ha # pylint: disable=wrong-import-position

jax.config.update("jax_enable_x64", True)
DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]
VIEWS = [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[1], lambda a: a[:, 2:2], lambda a: a[None], lambda a: a[::-1]]


@pytest.fixture(name="x")
def field():
    return ha.array(np.arange(6.0).reshape(2, 3), name="x")


def writable(x):
    """Once JAX has let go of it, which it does on a thread of its own."""
    gc.collect()
    until = time.monotonic() + 10
    while ha.exports() and time.monotonic() < until:
        time.sleep(0.001)
    x.write().close()
    return True


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_jaxs(dtype):
    a = jnp.arange(6).reshape(2, 3).astype(dtype)
    for take in (ha.from_dlpack, ha.wrap, ha.array):
        x = take(a)
        assert x.dtype == dtype and x.tolist() == a.tolist()
        assert jnp.asarray(x).dtype == a.dtype and jnp.asarray(x).tolist() == a.tolist()
        del x
    assert ha.zeros(3, a.dtype).dtype == ha.zeros(3, getattr(jnp, "bool_" if dtype == "bool" else dtype)).dtype == dtype
    x = ha.zeros((2, 3), dtype)
    x[...] = a
    assert x.tolist() == a.tolist()


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
def test_jaxs_of_views(x, view):
    for take in (jnp.asarray, jnp.array, lambda y: jnp.asarray(y.numpy()), lambda y: 0 + jnp.asarray(y), lambda y: jnp.zeros(()) + y):
        a = take(view(x))
        assert a.shape == view(x).shape and a.dtype == "float64" and a.tolist() == view(x).tolist()
    assert writable(x)


def test_what_jax_gets_are_copies(x):
    a = jnp.asarray(x)
    x[0, 0] = 9
    assert a[0, 0] == 0
    x.write("sim:0").close() # the values are there alone
    assert jnp.asarray(x).sum() == 24


def test_without_a_copy():
    x = ha.array(np.arange(1000.0), name="x")
    with pytest.raises(BufferError, match=r"'x'.*x\.copy\(\)\.write"):
        jnp.from_dlpack(x)
    v = x.write()
    a = jnp.from_dlpack(v)
    assert a.unsafe_buffer_pointer() == v.pointer and a.sum() == 499500
    del a, v
    assert writable(x)
    a = jnp.from_dlpack(x.copy().write())
    x[0] = 5
    assert a[0] == 0


def test_wrapped_is_for_reading():
    a = jnp.arange(3.0)
    x = ha.wrap(a, name="x")
    with pytest.raises(RuntimeError, match="'x'.*read"):
        x.write()
    address = a.unsafe_buffer_pointer()
    del a
    gc.collect()
    assert x.tolist() == [0, 1, 2] and x.read().pointer == address


def test_values_that_are_not_ready():
    for take in (ha.wrap, ha.from_dlpack):
        x = take(jnp.ones((600, 600)) @ jnp.ones((600, 600)))
        assert x[0, 0] == x[599, 599] == 600


@pytest.mark.parametrize("make, error, words", [
    (lambda: jnp.ones(3, "float8_e5m2"), NotImplementedError, "8 bits"), (lambda: jnp.ones((1,) * 9), NotImplementedError, "9 dimensions")])
def test_what_cannot_be_taken(make, error, words):
    with pytest.raises(error, match=words):
        ha.from_dlpack(make())


def test_what_is_left_at_the_end():
    program = """
import jax.numpy as jnp, harray as ha
x = ha.zeros(1000, "f4")
kept = [jnp.asarray(x), jnp.from_dlpack(x.write()), ha.wrap(jnp.ones(3)), ha.from_dlpack(jnp.ones(3))]
print("passed")
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, check=False, timeout=100,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"})
    assert done.returncode == 0 and done.stdout == "passed\n" and "Error" not in done.stderr, done.stdout + done.stderr
