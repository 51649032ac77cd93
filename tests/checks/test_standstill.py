#!/usr/bin/env python3
"""Checks tools/standstill.py where it runs a command: its status, what it says, and that a search for leaks that has failed
itself is made again. Prints TAP.

usage: test_standstill.py
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import standstill  # noqa: E402 # pylint: disable=wrong-import-position

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "standstill.py"
FAILED = "==1==LeakSanitizer has encountered a fatal error."
# Fails so often in the way that is named, and then ends with a status.
PROGRAM = """import pathlib, sys
runs = pathlib.Path(sys.argv[1])
so_far = len(runs.read_text()) if runs.exists() else 0
runs.write_text("." * (so_far + 1))
if so_far < int(sys.argv[2]):
    print({failed!r}, file=sys.stderr)
    sys.exit(1)
print("said", file=sys.stderr)
sys.exit(int(sys.argv[3]))
"""
# How often it fails, its status then; the status that is told, and how often it ran.
CASES = [(0, 0, 0, 1), (0, 3, 3, 1), (1, 0, 0, 2), (2, 0, 0, 3), (1, 5, 5, 2), (9, 0, 1, 3)]


def child_computes():
    """Is a program ended whose child, in a session of its own, computes for ever?"""
    child = "import os\nos.setsid()\nwhile True: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent]) as process:
        watch = standstill.Watch(process.pid, lambda: standstill.kill(process.pid), cpu_seconds=2)
        watch.start()
        process.wait()
        watch.stop()
    return watch.why == "does not end: it computes"


def main():
    failed = 0
    print(f"1..{len(CASES) + 1}")
    for number, (failures, status, told, times) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as folder:
            runs = pathlib.Path(folder) / "runs"
            done = subprocess.run(
                [sys.executable, TOOL, sys.executable, "-c", PROGRAM.format(failed=FAILED), runs, str(failures),
                 str(status)], stderr=subprocess.PIPE, text=True, check=False)
            good = done.returncode == told and len(runs.read_text()) == times and (
                "said" in done.stderr) == (failures < times) and done.stderr.count(FAILED) == min(failures, times)
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - {failures} failures, then {status}")
    good = child_computes()
    print(f"{'' if good else 'not '}ok {len(CASES) + 1} - a child that computes for ever")
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
