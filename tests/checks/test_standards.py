#!/usr/bin/env python3
"""Headers compiled for a standard that is too old: the first error says which one it has to be."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ["harray.h", "layout.h", "harray_records.h", "harray_kernels.h", "harray_ops.h"]
CASES = [
    ("gcc", "c", ["c90", "c99", "gnu99"], "needs -std=c11 or later"),
    ("clang", "c", ["c90", "c99", "gnu99"], "needs -std=c11 or later"),
    ("g++", "c++", ["c++11", "c++14", "gnu++14"], "needs -std=c++17 or later"),
    ("clang++", "c++", ["c++11", "c++14", "gnu++14"], "needs -std=c++17 or later"),
]


def main():
    failed = tried = 0
    for compiler, language, standards, words in CASES:
        if not shutil.which(compiler):
            continue
        for standard in standards:
            for header in HEADERS:
                tried += 1
                run = subprocess.run(
                    [compiler, f"-std={standard}", "-x", language, "-I", str(ROOT), "-fsyntax-only", "-"],
                    input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
                errors = [line for line in run.stderr.splitlines() if "error" in line]
                if run.returncode == 0 or not errors or words not in errors[0]:
                    failed = 1
                    print(f"{compiler} -std={standard} {header}: the first error is\n    {errors[:1]}")
    sys.exit(failed if tried else 77)


if __name__ == "__main__":
    main()
