#!/usr/bin/env python3
"""Checks tools/gpu-check as far as that goes without a GPU: it says that there is none, ends with 77, and
its report tells what passed, failed, took too long, or was not begun. Prints TAP.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "gpu-check"


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(module)
    return module


def without_device(folder):
    """As where there is none, also on a machine that has one."""
    out = folder / "new" / "report.md"
    done = subprocess.run([TOOL, "--out", out], env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
                          capture_output=True, text=True, check=False)
    text = out.read_text(encoding="utf-8")
    yield "no device: exit status 77", done.returncode == 77
    yield "no device: the report says so", "There is no CUDA device" in text and "Commit" in text


def steps(module, folder):
    python, out = sys.executable, folder / "steps.md"
    runner = module.Runner(3600)
    results = runner.together(4, [
        ("fine", [python, "-c", "print('hello')"], 600),
        ("skips", [python, "-c", "raise SystemExit(77)"], 600),
        ("breaks", [python, "-c", "print('the cause'); raise SystemExit(3)"], 600),
        ("hangs", ["sh", "-c", "echo begun; exec sleep 3600"], 10),  # within which a shell begins
        ("is not there", ["/no/such/program"], 600),
    ])
    runner.end = 0
    results.append(runner.run("too late", [python, "-c", "print('no')"], 600))
    report = module.Report()
    report.say("first")
    report.tell(results)
    report.write(out)
    text = out.read_text(encoding="utf-8")
    status = [r.status for r in results]
    yield "passed and skipped", status[0] == "passed" and status[1] == "skipped"
    yield "failed, with its output", status[2] == "failed: exit status 3" and "the cause" in text
    yield "stopped, with its output", status[3] == "failed: not done in 10 s" and "begun" in text
    yield "not there", status[4].startswith("failed: ")
    yield "no time left", status[5] == "skipped: no time left"
    yield "summary", "**1 passed, 3 failed, 2 skipped**" in text


def figures(module):
    line = ('{"figure": "f", "ns": 1500, "reference": "r", "reference_ns": 1000, "ratio": 1.5, '
            '"ratio_min": 1, "ratio_max": 2, "bound": 1.25, "gb_per_s": 3}')
    step = module.Step("bench", "passed", 1, f"no figure\n{line}\n")
    table = list(module.figure_table(module.figures_of(step)))
    yield "a figure and its ceiling", table[2] == ("| f | 1.5 µs | 3 | r | 1 µs | 1.5 (1 – 2) | "
                                                   "**missed**: ≤ 1.25× |")


def main():
    module, number, failed = load(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for checks in (without_device(folder), steps(module, folder), figures(module)):
            for what, good in checks:
                number += 1
                failed += not good
                print(f"{'ok' if good else 'not ok'} {number} - {what}", flush=True)
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
