"""The headers that the package brings: enough for extensions, and no second engine."""
import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest

import harray

PROGRAM = """
#include <harray.h>
#include <layout.h>
#include <harray_records.h>
#include <harray_kernels.h>
#include <harray_ops.h>
const char *version(void);
const char *version(void) { return ha_version(); }
"""


def compiled(tmp_path, compiler, source, *options):
    if not shutil.which(compiler) or not pathlib.Path(harray.get_include(), "harray.h").exists():
        pytest.skip(f"there is no {compiler}, or the package is not installed")
    name = tmp_path / ("it.cc" if compiler == "c++" else "it.c")
    name.write_text(source, encoding="utf-8")
    return subprocess.run([compiler, *options, "-Wall", "-Werror", "-shared", "-fPIC", "-I", harray.get_include(), "-o", str(tmp_path / "it.so"),
                           str(name), harray.get_library()], capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize("compiler, standard", [("cc", "-std=c11"), ("c++", "-std=c++17")])
def test_they_are_enough(tmp_path, compiler, standard):
    done = compiled(tmp_path, compiler, PROGRAM, standard)
    assert done.returncode == 0, done.stderr


EXTENSION = r"""
#include <harray.h>
/* What an array of Python's is called. */
const char *name_of(const darray *x);
const char *name_of(const darray *x) { return ha_array_name(x->array); }
"""


@pytest.mark.parametrize("name", ["harray", "harray-linked"])
def test_pkg_config_knows_them(tmp_path, name):
    """Also where the package was moved to."""
    folder = pathlib.Path(harray.get_library()).parent / "pkgconfig"
    if not shutil.which("pkg-config") or not shutil.which("cc") or not folder.exists():
        pytest.skip("there is no pkg-config or cc, or the package is not installed")
    moved = tmp_path / "moved"
    shutil.copytree(folder.parents[1], moved, ignore=shutil.ignore_patterns("*.py*", "_harray*"))
    for place in (folder, moved / "lib" / "pkgconfig"):
        def ask(*options):
            return subprocess.run(["pkg-config", *options, name], env={**os.environ, "PKG_CONFIG_PATH": str(place)}, check=True, # pylint: disable=cell-var-from-loop
                                  capture_output=True, text=True).stdout.split()
        assert ask("--modversion") == [harray.__version__]
        assert os.path.samefile(ask("--variable=libdir")[0], place.parent)
        (tmp_path / "it.c").write_text(EXTENSION, encoding="utf-8")
        subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", *ask("--cflags"), "-o", str(tmp_path / "it.so"), str(tmp_path / "it.c"),
                        "-Wl,--no-undefined", *ask("--libs")], check=True)
    library = ctypes.CDLL(str(tmp_path / "it.so")) # finds the library that Python has
    library.name_of.restype, library.name_of.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = harray.zeros(3, name="field").address
    assert library.name_of(pointer(capsule, b"harray.darray")) == b"field"


def test_there_is_no_second_engine(tmp_path):
    done = compiled(tmp_path, "cc", "#define HARRAY_IMPLEMENTATION\n" + PROGRAM)
    assert done.returncode != 0 and "harray.get_library()" in done.stderr
    assert "impl" not in os.listdir(os.path.join(harray.get_include(), "harray"))
