#!/usr/bin/env python3
"""Checks examples/halo_mpi: test_halo_mpi.py HALO_MPI MPIEXEC

The program compares its result with that of a plain loop, bit for bit; here it is run by 1, 2, 4 and 8 ranks, and
others, and the bytes that rank 0 sends are reckoned again.
"""
import re
import subprocess
import sys


def run(program, launcher, ranks, *arguments):
    return subprocess.run([launcher, "-n", str(ranks), program, *arguments], capture_output=True, text=True, check=False)


def main():
    program, launcher = sys.argv[1:]
    small = ["--size", "8", "8", "8", "--steps", "3"]  # a face of half of it has 8 * 8 cells, of 16 bytes
    cases = [("1 rank", 1, small, 0), ("2 ranks", 2, small, 3 * 64 * 16), ("4 ranks", 4, small, 3 * 2 * 32 * 16),
             ("8 ranks", 8, small, 3 * 3 * 16 * 16), ("8 ranks on the host", 8, [*small, "--device", "host"], 3 * 3 * 16 * 16),
             ("3 ranks, of which none has as many cells", 3, ["--size", "10", "3", "2", "--steps", "4"], 4 * 6 * 16),
             ("2 ranks with one layer", 2, ["--size", "2", "5", "1", "--steps", "2"], 2 * 5 * 16),
             ("no step", 2, ["--steps", "0"], 0)]
    failed = 0
    for number, (name, ranks, arguments, sent) in enumerate(cases, 1):
        done = run(program, launcher, ranks, *arguments)
        told = re.search(r"(\d+) ranks.* sent (\d+) bytes", done.stdout)
        good = done.returncode == 0 and told and (int(told[1]), int(told[2])) == (ranks, sent) \
            and "bit for bit" in done.stdout
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    bad = run(program, launcher, 1, "--steps", "many")
    good = bad.returncode != 0 and "usage" in bad.stderr
    print(f"{'ok' if good else 'not ok'} {len(cases) + 1} - options that are none\n1..{len(cases) + 1}")
    return 1 if failed or not good else 0


if __name__ == "__main__":
    sys.exit(main())
