"""Whether dpctl finds a device with memory of its own. It is asked in an interpreter of its own: in this one a loader of
OpenCL may be there already that knows other drivers."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ASKS = "import dpctl; print(any(d.has_aspect_usm_device_allocations for d in dpctl.get_devices()))"


def none(why):
    """Nothing to be tested; where it was said that there is (tools/test-python --dpctl), that is a failure."""
    (pytest.fail if os.environ.get("HARRAY_TEST_DPCTL") else pytest.skip)(why)


def folder():
    """Where dpctl's library is."""
    package = importlib.util.find_spec("dpctl")
    if package is None:
        none("dpctl is not installed")
    asked = subprocess.run([sys.executable, "-c", ASKS], capture_output=True, text=True, timeout=100, check=False)
    if asked.stdout.strip() != "True":
        none("no device of dpctl's has memory of its own " + asked.stderr[-200:])
    return pathlib.Path(package.origin).parent
