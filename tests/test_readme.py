#!/usr/bin/env python3
"""Compiles and runs the programs that README.md quotes, and compares what they print with it.

usage: test_readme.py [--show DIR]
  --show DIR  builds the short program in DIR and shows what it prints, without judging

The short program is the first ```c block, its output the first ```console block behind it. The
table of states is what examples/states.c prints.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARNINGS = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as text:
        return text.read()


def short_program(readme):
    program = re.search(r"^```c\n(.*?)^```$(.*)", readme, re.DOTALL | re.MULTILINE)
    output = re.search(r"^```console\n(.*?)^```$", program[2], re.DOTALL | re.MULTILINE)
    return program[1], output[1]


def build(program, folder):
    source = os.path.join(folder, "program.c")
    binary = os.path.join(folder, "program")
    with open(source, "w", encoding="utf-8") as text:
        text.write(program)
    subprocess.run(["cc", *WARNINGS, f"-I{ROOT}", source, "-pthread", "-o", binary], check=True)
    return binary


def run(binary, device=None):
    environment = {k: v for k, v in os.environ.items() if k not in ("HARRAY_DEVICE", "HARRAY_SIM")}
    if device:
        environment["HARRAY_DEVICE"] = device
    done = subprocess.run([binary], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def main():
    readme = read("README.md")
    program, expected = short_program(readme)
    if sys.argv[1:2] == ["--show"]:
        print(run(build(program, sys.argv[2])), end="")
        return 0

    with tempfile.TemporaryDirectory() as folder:
        short = build(program, folder)
        results = [("the short program", run(short) == expected),
                   ("the short program on sim", run(short, "sim") == expected)]
        table = run(build(read("examples/states.c").replace("../harray.h", "harray.h"), folder))
        results.append(("the table of states", table.count("\n") > 10 and table in readme))
    for number, (name, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
