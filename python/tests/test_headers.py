"""The headers that the package brings: enough for extensions, and no second engine."""
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


def test_there_is_no_second_engine(tmp_path):
    done = compiled(tmp_path, "cc", "#define HARRAY_IMPLEMENTATION\n" + PROGRAM)
    assert done.returncode != 0 and "harray.get_library()" in done.stderr
    assert "impl" not in os.listdir(os.path.join(harray.get_include(), "harray"))
