"""HARRAY_VERIFY_READS=1: who writes to what was exported for reading is told of, with array, place and consumer."""
import os
import subprocess
import sys
import textwrap

import pytest

import fake_cupy as cupy

FRONT = """
import ctypes, gc, sys, threading
import numpy as np, pytest
import harray as ha
x = ha.array(np.arange(24.0).reshape(4, 6), name="field")
told = []
sys.unraisablehook = lambda u: told.append((u.exc_type, str(u.exc_value)))

def poke(address, value=99):
    ctypes.c_double.from_address(address).value = value

def told_once(words):
    (kind, text), = told
    told.clear()
    assert kind is RuntimeError and words in text and "'field' was exported for reading" in text and ".py:" in text, text
"""
ON_HOST = {
    "a buffer of an array": """
        a = np.asarray(x)
        poke(a.ctypes.data + 16)
        del a
        told_once("(buffer at program.py:17), and has been written to at host")
        np.asarray(x)
        assert not told # it is the value now
    """,
    "a buffer of an access": """
        with x[:, 1:5:2].read() as v:
            m = memoryview(v)
            poke(v.pointer + 16) # an element in it
            m.release()
            told_once("buffer")
            v.closed or poke(v.pointer + 16, 3.0)
    """,
    "between its elements": """
        with x[:, 1:5:2].read() as v:
            m = memoryview(v)
            poke(np.asarray(m).ctypes.data + 8)
            m.release()
        assert not told
    """,
    "backwards, and repeated": """
        for i, view in enumerate([x[::-1, ::-2], x.T, x[:1].broadcast_to((5, 6)), x[2], x[1, 2, ...]]):
            a = np.asarray(view)
            first = a.ctypes.data
            del a
            assert not told
            m = memoryview(view)
            poke(first, -i - 1)
            m.release()
            told_once("buffer")
    """,
    "an interface": """
        v = x.read()
        a = np.ndarray((24,), "f8", (ctypes.c_double * 24).from_address(v.__array_interface__["data"][0]))
        a[3] = 99
        with pytest.raises(RuntimeError, match=r"'field' was exported for reading \\(__array_interface__ at program.py:18\\), and has been"):
            v.close()
        assert v.closed
        with pytest.raises(RuntimeError, match="__array_interface__"):
            with x.read() as v:
                poke(v.__array_interface__["data"][0])
        with pytest.raises(KeyError):
            with x.read() as v:
                poke(v.pointer, 1.5)
                raise KeyError
        told_once("its address")
        v = x.read()
        poke(v.pointer, 2.5)
        del v
        told_once("its address")
        x.write().close()
    """,
    "several at once": """
        y = ha.zeros(3, name="y")
        with pytest.raises(RuntimeError, match="'field'"):
            with ha.open_all((x, "read"), (y, "read")) as (v, w):
                poke(v.pointer)
        assert v.closed and w.closed
        y.write().close()
    """,
    "a tensor": """
        a = np.from_dlpack(x)
        poke(a.ctypes.data)
        del a
        told_once("(DLPack at program.py:17)")
        a = np.from_dlpack(x.read())
        poke(a.ctypes.data + 8)
        thread = threading.Thread(target=lambda keep: keep.clear(), args=([a],))
        del a
        thread.start()
        thread.join()
        told_once("(DLPack at program.py:")
    """,
    "what may be written to": """
        with x.write() as v:
            np.asarray(v)[0] = 7
            poke(v.__array_interface__["data"][0])
            np.from_dlpack(v)[1] = 7
        with x.overwrite() as v:
            np.asarray(v)[...] = 1
        x[0, 0] = 3
        assert x.numpy().sum() == 26 and x.tolist() and bytes(x)
        for y in (ha.zeros(0), ha.zeros((3, 0)), ha.full((), 2.0)):
            np.asarray(y), np.from_dlpack(y), y.read().__array_interface__
        gc.collect()
        assert not told
    """,
    "at the end": """
        a = np.asarray(x)
        poke(a.ctypes.data)
        sys.kept = a # until the interpreter has gone
    """,
}
ON_CUDA = {
    "an interface": """
        with pytest.raises(RuntimeError, match=r"'field' was exported for reading \\(__cuda_array_interface__ at [a-z_]*.py:[0-9]*\\), and has been written to at cuda:0"):
            with x.read(gpu) as v:
                a = cupy.asarray(v)
                assert a.read_only # which it ignores, as CuPy does
                a.set(5.0)
        assert x[0, 0] == 0 # the host's copy is stale
        with x.read(gpu) as v:
            assert (cupy.asarray(v).get() == 5).all()
    """,
    "later on the stream": """
        with pytest.raises(RuntimeError, match="written to at cuda:0"):
            with x[1:, ::2].read(gpu) as v:
                a = cupy.asarray(v)
                cupy.hold(gpu.stream)
                a.fill_bytes(1)
                cupy.go_on(gpu.stream)
    """,
    "a tensor": """
        number = cupy.new_stream()
        a = cupy.from_dlpack(x.read(gpu), number, max_version=(1, 0))
        assert a.read_only
        a.set(5.0)
        cupy.synchronize(number)
        del a
        gc.collect()
        told_once("(DLPack at ")
    """,
    "what may be written to": """
        with x.write(gpu) as v:
            cupy.asarray(v).set(5.0)
        for view in (x, x[::-1, ::-2], x.T[1:]):
            with view.read(gpu) as v, view.read("cuda:1") as w:
                cupy.asarray(w, 1).get()
                cupy.from_dlpack(v, max_version=(1, 0)).get()
        gc.collect()
        assert not told and x[0, 0] == 5
    """,
    "what cannot be compared": """
        def fail():
            cupy.control("fail_call", ctypes.c_char_p(None), ctypes.c_uint64(1), ctypes.c_int(2), ctypes.c_int(1)) # each call: no memory
        v = x.read(gpu)
        v.__cuda_array_interface__
        fail()
        try:
            with pytest.raises(RuntimeError, match="'field' was exported for reading .*; whether it was written to at cuda:0 is not known"):
                v.close()
        finally:
            cupy.control("fail_never")
        assert v.closed
        v = x.read(gpu)
        fail()
        try:
            with pytest.raises((MemoryError, ha.DeviceError)):
                v.__cuda_array_interface__
        finally:
            cupy.control("fail_never")
        v.close()
    """,
}


def run(tmp_path, program, verify="1"):
    file = tmp_path / "program.py"
    file.write_text(FRONT + textwrap.dedent(program) + "print('passed')\n", encoding="utf-8")
    path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, "PYTHONPATH": path, "HARRAY_VERIFY_READS": verify})


@pytest.mark.parametrize("name", ON_HOST)
def test_on_the_host(tmp_path, name):
    done = run(tmp_path, ON_HOST[name])
    assert done.returncode == 0 and done.stdout.endswith("passed\n"), done.stdout + done.stderr
    assert ("harray: 'field' was exported for reading" in done.stderr) == (name == "at the end"), done.stderr


@pytest.mark.skipif(not cupy.IS_THERE, reason="HARRAY_CUDA does not name the repository's fake driver")
@pytest.mark.parametrize("name", ON_CUDA)
def test_on_a_gpu(tmp_path, name):
    done = run(tmp_path, "import fake_cupy as cupy\ngpu = ha.context('cuda:0')\n" + textwrap.dedent(ON_CUDA[name]))
    assert done.returncode == 0 and done.stdout.endswith("passed\n"), done.stdout + done.stderr


@pytest.mark.parametrize("verify", ["", "0"])
def test_nothing_is_compared_unless_asked(tmp_path, verify):
    done = run(tmp_path, """
        with x.read() as v:
            poke(v.__array_interface__["data"][0])
            a = np.asarray(v)
            poke(v.pointer, 3.0)
            del a
        assert not told
    """, verify)
    assert done.returncode == 0 and done.stdout == "passed\n", done.stdout + done.stderr
