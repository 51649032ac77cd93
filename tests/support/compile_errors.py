"""Compiles a program with one mistake at a time: the first error has to say what is wrong. And the program without
mistakes has to compile, so that it is the mistake that is refused. With a compiler of C and one of C++; with
HARRAY_TEST_LONG with every one that is here."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
COMPILERS = [
    ["gcc", "-std=c11", "-x", "c"],
    ["clang", "-std=c11", "-x", "c"],
    ["g++", "-std=c++17", "-x", "c++"],
    ["clang++", "-std=c++20", "-x", "c++"],
]


def first_error(compiler, text):
    """None if it compiles."""
    command = [*compiler, *WARNINGS, "-I", str(ROOT), "-fsyntax-only", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    errors = [line for line in run.stderr.splitlines() if "error" in line]
    if run.returncode == 0:
        return None
    return errors[0] if errors else run.stderr


def check(program, good, cases):
    """program: with {places} for what `good` says; cases: a name, what is said instead, and words that the
    first error has, "one|another" for either. Exits with what became of it."""
    failed = 0
    compilers = [c for c in COMPILERS if shutil.which(c[0])]
    if not os.environ.get("HARRAY_TEST_LONG"):
        compilers = compilers[:1] + compilers[1:][-1:]
    if not compilers:
        sys.exit(77)
    for compiler in compilers:
        for name, change, words in [("no mistake", {}, None), *cases]:
            line = first_error(compiler, program.format(**{**good, **change}))
            if words is None:
                fine = line is None
            else:
                fine = line is not None and all(
                    any(part in line for part in word.split("|")) for word in words)
            if not fine:
                failed = 1
                print(f"{compiler[0]}: {name}: the first error is\n    {line}")
    sys.exit(failed)
