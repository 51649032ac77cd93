#!/usr/bin/env python3
"""Checks tools/gdb.py, and that HA_VIEW_DEBUG leaves something to call, in an optimised program. Prints TAP;
without a gdb that may run programs it exits with 77.

usage: test_gdb.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "checks" / "gdb_program.c"
IMPLEMENTATION = '#define HARRAY_IMPLEMENTATION\n#include "harray_records.h"\n'
# What is asked for, and what gdb says of it.
CASES = [
    ("v", "view sky of [3] = {[0] = {pos = {x = 0, y = 2}, id = 0}, "
          "[1] = {pos = {x = 1.5, y = 2}, id = 1}, [2] = {pos = {x = 3, y = 2}, id = 2}}"),
    ("sky_pos_x_get(v, sky_at(v, 2))", "3"),
    ("*sky_id(v, sky_at(v, 1))", "1"),
    ("sky_reading_of_v", "view sky of [3] = {[0] = {pos = {x = 0, y = 2}, id = 0}, "
                         "[1] = {pos = {x = 1.5, y = 2}, id = 1}, "
                         "[2] = {pos = {x = 3, y = 2}, id = 2}}"),
    ("sky_at(v, 2)", "cursor at 2"),
    ("g", "view grid of [2, 2] = {[0][0] = {pos = {x = 0, y = 0}, id = 0}, "
          "[0][1] = {pos = {x = 0, y = 0}, id = 1}, [1][0] = {pos = {x = 0, y = 0}, id = 10}, "
          "[1][1] = {pos = {x = 0, y = 0}, id = 11}}"),
    ("unkept", "view plain of [2]: HA_VIEW_DEBUG(plain, …) shows its records"),
    ("r", "records 'stars' (body[3]) = {host = soa}"),
    ("nothing", "no records"),
    ("x", "array 'x' (double[4]), version 1 = {host = valid [0, 4)}"),
    ("*x.array", "array 'x' (double[4]), version 1 = {host = valid [0, 4)}"),
    ("none", "no array"),
    ("w", "access to elements [1, 3) = {[1] = 0.5, [2] = 1}"),
    ("closed", "an access that is not open"),
]


def answers(folder):
    """What gdb says of each; None: it cannot run the program, and why."""
    program, implementation = pathlib.Path(folder) / "program", pathlib.Path(folder) / "implementation"
    compile_it = ["cc", "-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}"]
    implementation.with_suffix(".c").write_text(IMPLEMENTATION, encoding="utf-8")
    subprocess.run([*compile_it, "-c", implementation.with_suffix(".c"), "-o", implementation.with_suffix(".o")],
                   check=True)
    subprocess.run([*compile_it, "-O2", str(PROGRAM), implementation.with_suffix(".o"), "-o", str(program),
                    "-pthread", "-ldl"], check=True)
    commands = [f"source {ROOT / 'tools' / 'gdb.py'}", "break stop", "run", "up"]
    for question, _ in CASES:
        commands += [f"echo >>{question}>>", f"print {question}"]
    arguments = [part for command in commands for part in ("-ex", command)]
    run = subprocess.run(["gdb", "-q", "-nx", "-batch", "-ex", "set width 0", *arguments,
                          str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         encoding="utf-8", check=False, timeout=300,
                         env={**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C.UTF-8"})
    if "Breakpoint 1, stop" not in run.stdout:
        return None, run.stdout
    parts = run.stdout.split(">>")[1:]
    said = dict(zip(parts[::2], parts[1::2]))
    return {question: answer.partition(" = ")[2].strip() for question, answer in said.items()}, ""


def main():
    if not shutil.which("gdb"):
        print("1..0 # SKIP there is no gdb here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        said, why = answers(folder)
    if said is None:
        print(f"1..0 # SKIP this gdb cannot run programs: {why.strip().splitlines()[-1:]}")
        return 77
    failed = 0
    for number, (question, expected) in enumerate(CASES, 1):
        good = said.get(question) == expected
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - print {question}")
        if not good:
            print(f"# {said.get(question)}")
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
