#!/usr/bin/env python3
"""Checks examples/offload: test_offload.py OFFLOAD

It compares its result with that of a plain loop. At a simulated device that works on the host's memory, and begins
each command late, a loop that does not wait for the device's queue comes too early, so that the result differs.
"""
import os
import subprocess
import sys


def main():
    cases = [("the host", ["host"], "", 0, "host: 0 of"),
             ("where there is no GPU", [], "", 0, "host: 0 of"),
             ("a device on the host's memory", ["sim:0"], "unified=1,delay=2ms,seed=1", 0, "sim:0: 0 of"),
             ("the same with other delays", ["sim:0"], "unified=1,delay=2ms,seed=2", 0, "sim:0: 0 of"),
             ("memory out of reach", ["sim:0"], "unified=0", 77, "out of their reach"),
             ("no such device", ["sim:100"], "devices=1", 77, "cannot run at sim:100")]
    failed = 0
    for number, (name, arguments, sim, status, text) in enumerate(cases, 1):
        environment = dict(os.environ, HARRAY_SIM=sim, HARRAY_CUDA="library=/nowhere/libcuda.so",
                           OMP_TARGET_OFFLOAD="DISABLED")
        environment.pop("HARRAY_ZERO_COPY", None)
        done = subprocess.run([sys.argv[1], *arguments], env=environment, capture_output=True, text=True, check=False)
        good = done.returncode == status and text in done.stdout
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(done.returncode, done.stdout, done.stderr, sep="\n", file=sys.stderr)
    print(f"1..{len(cases)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
