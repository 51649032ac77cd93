#!/usr/bin/env python3
"""Compiles and runs the programs that README.md quotes, and compares what they print with it.

usage: test_readme.py [--show DIR]
  --show DIR  builds the short program in DIR and shows what it prints, without judging

The short program is the first ```c block, its output the first ```console block behind it. The
block under "Your own memory" runs with the same function, that under "N-dimensional arrays" by
itself, and prints the block behind it, and so do those under "Layouts of records" and "Records on host
and device". The table of states is what
examples/states.c prints. The mistake under "Finding mistakes" is told as the block behind it says.
The test is run with a driver that has GPUs: what the programs do must not depend on that.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WARNINGS = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as text:
        return text.read()


def short_program(readme):
    program = re.search(r"^```c\n(.*?)^```$(.*)", readme, re.DOTALL | re.MULTILINE)
    output = re.search(r"^```console\n(.*?)^```$", program[2], re.DOTALL | re.MULTILINE)
    return program[1], output[1]


def with_fragment(readme, program, heading):
    """The short program with the first ```c block of a section as the beginning of its main."""
    section = readme.split(f"## {heading}\n")[1]
    fragment = re.search(r"^```c\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1]
    return program[:program.index("int main")] + "int main(void) {\n" + fragment


def wrapping(readme, program):
    """Its own memory: the elements are set before they are wrapped, and printed at the end."""
    text = with_fragment(readme, program, "Your own memory")
    wrap = text.index("harray_double x")
    fill = "for (int i = 0; i < 100; i++) u[i] = i;\n"
    return text[:wrap] + fill + text[wrap:] + 'printf("%g\\n", u[99]); }\n'


def of_dimensions(readme, program):
    """The program with an array of rank 2, and what it prints."""
    section = readme.split("## N-dimensional arrays\n")[1]
    code, output = short_program(section)
    return program[:program.index("static")] + code, output


def mistake(readme):
    """The program with the mistake, and the line that tells it."""
    section = readme.split("## Finding mistakes: HARRAY_DEBUG\n")[1]
    code = re.search(r"^```c\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1]
    line = re.search(r"^```console\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1]
    head = "#define HARRAY_DEBUG\n#define HARRAY_IMPLEMENTATION\n#include \"harray.h\"\n\n"
    return head + "int main(void) {\n" + code + "}\n", line


def crash(binary):
    """What a program that ends by a fault has printed, without the folders of its source."""
    done = subprocess.run([binary], stderr=subprocess.PIPE, text=True, check=False)
    folder = os.path.dirname(binary) + os.sep
    return done.stderr.replace(folder, "") if done.returncode == -signal.SIGSEGV else done.returncode


def build(program, folder):
    source = os.path.join(folder, "program.c")
    binary = os.path.join(folder, "program")
    with open(source, "w", encoding="utf-8") as text:
        text.write(program)
    subprocess.run(["cc", *WARNINGS, f"-I{ROOT}", source, "-pthread", "-o", binary], check=True)
    return binary


def run(binary):
    environment = {k: v for k, v in os.environ.items() if k not in ("HARRAY_DEVICE", "HARRAY_SIM")}
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
        results = [("the short program", run(short) == expected)]
        own = build(wrapping(readme, program), folder)
        results.append(("your own memory", run(own) == "198\n"))
        ranked, printed = of_dimensions(readme, program)
        results.append(("n-dimensional arrays", run(build(ranked, folder)) == printed))
        laid_out, printed = short_program(readme.split("## Layouts of records\n")[1])
        results.append(("layouts of records", run(build(laid_out, folder)) == printed))
        coherent, printed = short_program(readme.split("### Records on host and device\n")[1])
        results.append(("records on host and device", run(build(coherent, folder)) == printed))
        debugged, line = mistake(readme)
        results.append(("the mistake is told", crash(build(debugged, folder)) == line))
        table = run(build(read("examples/states.c").replace("../harray.h", "harray.h"), folder))
        results.append(("the table of states", table.count("\n") > 10 and table in readme))
    for number, (name, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
