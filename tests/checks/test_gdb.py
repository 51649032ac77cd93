#!/usr/bin/env python3
"""Checks tools/gdb.py, that HA_VIEW_DEBUG leaves something to call, in an optimised program, and that kernels of
a file are stepped through by lines. Prints TAP; without a gdb that may run programs it exits with 77.

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
KERNELS = ROOT / "tests" / "checks" / "gdb_kernels.c"
KERNELS_FILE = ROOT / "tests" / "checks" / "gdb_kernels_file.h"
SEEN = {"lanes": 11, "records": 12, "teams": 13, "sum": 17}  # of each kernel, where it first stops
IMPLEMENTATION = '#define HARRAY_IMPLEMENTATION\n#include "harray_records.h"\n'
COMPILE = ["cc", "-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}"]
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
# Whether gdb can call functions of the program at all. Where a processor has registers that it does not know, it cannot.
CALL = "(int)getpid() > 0"


def session(folder, source, options, commands):
    """What gdb says, of a program."""
    program = pathlib.Path(folder) / source.stem
    subprocess.run([*COMPILE, str(source), *options, "-o", str(program), "-pthread", "-ldl"], check=True, cwd=ROOT)
    arguments = [part for command in commands for part in ("-ex", command)]
    return subprocess.run(["gdb", "-q", "-nx", "-batch", "-ex", "set width 0", *arguments,
                           str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False,
                          env={**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C.UTF-8"}).stdout


def steps(folder):
    """For each kernel of a file: its name, and whether gdb stops in its body, goes on to the next line, and knows
    what has been computed there."""
    lines = KERNELS_FILE.read_text(encoding="utf-8").splitlines()
    stops = {line.split("// ")[1]: number for number, line in enumerate(lines, 1) if "; // " in line}
    commands = [f"break {KERNELS_FILE.name}:{number}" for number in stops.values()]
    for name in stops:
        commands += ["continue" if len(commands) > len(stops) else "run", f"echo >>{name}>>", "next",
                     "frame", "print seen", f"clear {KERNELS_FILE.name}:{stops[name]}"]
    parts = session(folder, KERNELS, ["-O0", "-DHARRAY_STATIC"], commands).split(">>")[1:]
    said = dict(zip(parts[::2], parts[1::2]))
    return [(name, f"{KERNELS_FILE.name}:{number + 1}\n" in said.get(name, "") and
             f"= {SEEN[name]}\n" in said.get(name, "")) for name, number in stops.items()]


def answers(folder):
    """What gdb says of each; None: it cannot run the program, and why."""
    implementation = pathlib.Path(folder) / "implementation.c"
    implementation.write_text(IMPLEMENTATION, encoding="utf-8")
    subprocess.run([*COMPILE, "-c", str(implementation), "-o", str(implementation.with_suffix(".o"))], check=True)
    commands = [f"source {ROOT / 'tools' / 'gdb.py'}", "break stop", "run", "up"]
    for question in [CALL, *(question for question, _ in CASES)]:
        commands += [f"echo >>{question}>>", f"print {question}"]
    said = session(folder, PROGRAM, ["-O2", str(implementation.with_suffix(".o"))], commands)
    if "Breakpoint 1, stop" not in said:
        return None, said
    parts = said.split(">>")[1:]
    said = dict(zip(parts[::2], parts[1::2]))
    return {question: answer.partition(" = ")[2].strip() for question, answer in said.items()}, ""


def main():
    if not shutil.which("gdb"):
        print("1..0 # SKIP there is no gdb here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        said, why = answers(folder)
        stepped = steps(folder) if said is not None else []
    if said is None:
        print(f"1..0 # SKIP this gdb cannot run programs: {why.strip().splitlines()[-1:]}")
        return 77
    failed = 0
    for number, (question, expected) in enumerate(CASES, 1):
        good = said.get(question) == expected
        if not good and said.get(CALL) != "1":
            print(f"ok {number} - print {question} # SKIP this gdb cannot call functions of a program")
            continue
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - print {question}")
        if not good:
            print(f"# {said.get(question)}")
    for number, (name, good) in enumerate(stepped, len(CASES) + 1):
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - lines of {name}, a kernel in a file")
    if [name for name, _ in stepped] != list(SEEN):
        print("Bail out! kernels are missing")
        failed += 1
    print(f"1..{len(CASES) + len(stepped)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
