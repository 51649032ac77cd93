#!/usr/bin/env python3
"""Checks tools/standstill.py where it runs a command: its status, what it says, and that a search for leaks that has failed
itself is made again. Prints TAP.

usage: test_standstill.py
"""
import pathlib
import subprocess
import sys
import tempfile

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


def main():
    failed = 0
    print(f"1..{len(CASES)}")
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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
