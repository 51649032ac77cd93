"""The extension keeps to the limited API that its name promises."""
import subprocess
import sys

import pytest

from harray import _harray

pytest.importorskip("abi3audit")


def test_limited_api():
    assert _harray.__file__.endswith(".abi3.so")
    done = subprocess.run([sys.executable, "-m", "abi3audit", "--strict", "--assume-minimum-abi3", "3.11", _harray.__file__],
                          capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
