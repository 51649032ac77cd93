"""Records of SYCL's memory, usm_records.py: over a library that has dpctl's functions and the host's memory; over dpctl's own
where that is installed and finds a device with memory of its own."""
import os
import pathlib
import shutil
import subprocess
import sys

import dpctl_device
import pytest

HERE = pathlib.Path(__file__).resolve()


def run(**environment):
    """In an interpreter of its own, as libraries stay."""
    tests = [sys.executable, "-X", "dev", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE.with_name("usm_records.py"))]
    done = subprocess.run(tests, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def test_over_a_stand_in(tmp_path):
    compiler, source = shutil.which("cc"), HERE.parents[2] / "tests" / "backends" / "fake_sycl.c"
    if not compiler or not source.exists():
        pytest.skip("a C compiler and the repository's tests are needed")
    library = tmp_path / "fake_sycl.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-pthread", "-ldl"], check=True)
    run(HARRAY_TEST_RECORDS=str(library), HARRAY_SYCL=f"library={library}")


def test_over_dpctl():
    dpctl_device.folder()
    run(HARRAY_TEST_RECORDS="dpctl")
