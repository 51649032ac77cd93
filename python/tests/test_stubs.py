"""The type stubs say what there is: mypy's stubtest compares them with the package."""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

import harray # pylint: disable=wrong-import-position

PROGRAM = """
import harray as ha
x: ha.Array = ha.zeros((2, 3), "f4", name="x")
with x.write(ha.host) as v:
    pointer: int = v.pointer
with ha.open_all((x, "read"), on="sim:0") as opened:
    pass
total = ha.ops.sum(ha.ops.add(x, x, on="sim:0")) + x[0, 0]
ha.set_budget("sim:0", "1GiB")
"""
WRONG = """
import harray as ha
ha.zeros(3).write(wait=5)
ha.zeros(3).nothing
"""


def mypy(*arguments):
    folder = str(pathlib.Path(harray.__file__).parents[1])
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "MYPYPATH": folder if "site-packages" not in folder else "", "PYTHONPATH": folder})


def test_stubs_are_what_there_is():
    done = mypy("mypy.stubtest", "harray._harray", "harray.ops")
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_are_checked(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    cache = ["--cache-dir", str(tmp_path / "cache")]
    done = mypy("mypy", *cache, str(tmp_path / "right.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    done = mypy("mypy", *cache, str(tmp_path / "wrong.py"))
    assert done.stdout.count("error") >= 2 and done.returncode == 1, done.stdout
