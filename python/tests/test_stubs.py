"""The type stubs say what there is: mypy's stubtest compares them with the package."""
import importlib.util
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
first, second = opened
number: int = first.pointer
with ha.open_all((x, "write"), on=ha.host) as (only,):
    mode: str = only.mode
class Watch(ha.Controller):
    def pressure(self, where: ha.Context, need: int, attempt: int) -> bool:
        return where.kind == "cuda" and attempt == 1
    def choose(self, where: ha.Context, candidates: list[ha.Candidate], need: int) -> ha.Candidate | None:
        return max(candidates, key=lambda c: c.restored_at)
ha.set_controller(Watch())
relax: ha.Kernel = ha.kernel("relax", "(inout, double, x)", "i", "x[i] += 1;")
relax("host", 3, x)
relax(ha.host, ((1, 3), 4), x, 2.5)
log: str = relax.log("host")
ha.Library("solver.so").relax(ha.host, 3, x)
with ha.on("host"), ha.no_transfers(), ha.trace("file.json"), ha.stream("cuda:0", 7) as own:
    own.finish()
include: str = ha.get_include()
name: str = ha.devices()[0].name
moved = ha.report()["memories"]
"""
WRONG = """
import harray as ha
ha.zeros(3).write(wait=5)
ha.zeros(3).nothing
ha.open_all((ha.zeros(3), "look"))
ha.set_controller(5)
ha.kernel("relax", "(inout, double, x)", "i", 5)
ha.on()
ha.get_include() + 1
ha.devices().name
ha.Library(5)
ha.Controller().pressure("host", 1, 1)
"""
WITH_DASK = """
import harray.dask
store = harray.dask.Store("spill", "1GiB")
freed: int = store.evict()
plugin = harray.dask.Memory({"sim:0": "1GiB"})
"""


def mypy(*arguments):
    folder = str(pathlib.Path(harray.__file__).parents[1])
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "MYPYPATH": folder if "site-packages" not in folder else "", "PYTHONPATH": folder})


def test_stubs_are_what_there_is():
    modules = ["_harray", "ops", "_controller", "_kernels", "_scopes"]
    if importlib.util.find_spec("distributed"):
        modules.append("dask")
    done = mypy("mypy.stubtest", *("harray." + name for name in modules))
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_are_checked(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM, encoding="utf-8")
    if importlib.util.find_spec("distributed"):
        (tmp_path / "right.py").write_text(PROGRAM + WITH_DASK, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    cache = ["--cache-dir", str(tmp_path / "cache")]
    done = mypy("mypy", *cache, str(tmp_path / "right.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    done = mypy("mypy", *cache, str(tmp_path / "wrong.py"))
    lines = WRONG.count("\n", 1) # each of them but the import
    assert [f"wrong.py:{i + 3}: error" in done.stdout for i in range(lines - 1)] == [True] * (lines - 1), done.stdout
