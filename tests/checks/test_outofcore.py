#!/usr/bin/env python3
"""Checks examples/outofcore: test_outofcore.py OUTOFCORE

On each context, with hints and without, what gives way comes back, and the result is that of the run that fits. The
program says so itself; here it is looked at whether anything gave way at all, or nothing where all fits.
HARRAY_CUDA names the driver of the tests, over which kernels run on the host.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position

SMALL = ["--n", "48", "--steps", "4"]
FIELD = 48 ** 3 * 8 / 2 ** 20  # MiB of one level of time


class Test(Checks):
    def sweeps(self, name, gives_way, *arguments, **environment):
        done = self.run(*SMALL, *arguments, **environment)
        lines = done.stdout.splitlines()
        moved = re.search(r"evicted: (\d+) blocks, ([0-9.]+) MiB; written back: ([0-9.]+) MiB; "
                          r"restored: ([0-9.]+) MiB\n", done.stdout)
        self.check(name, done.returncode == 0 and done.stderr == "" and "bit for bit" in lines[-1]
                   and "NOT" not in done.stdout and "WRONG" not in done.stdout, done)
        self.check(f"{name}: what moved", (moved is not None) == (gives_way is not None)
                   and (not moved or (int(moved[1]) > 0) == gives_way), done)
        return moved

    def sweeps_where(self, device, name, gives_way, *arguments, **environment):
        """The same on a device that need not be here."""
        if self.run(*SMALL, "--quiet", "--device", device, **environment).returncode == 0:
            self.sweeps(name, gives_way, "--device", device, *arguments, **environment)
        else:
            self.skip(name, f"there is no {device}")


def main():
    test = Test(sys.argv[1])
    for hints in ([], ["--no-hints"]):
        name = "hints" if not hints else "no hints"
        moved = test.sweeps(f"sim, {name}", True, *hints)
        # Three steps are measured, each of which writes a level and reads two, but for what stayed.
        test.check(f"sim, {name}: all that was computed was written back, and no more",
                   moved and abs(float(moved[3]) - 3 * FIELD) < FIELD, moved and moved[0])
        test.check(f"sim, {name}: what was computed came back", moved and float(moved[4]) > 3 * FIELD,
                   moved and moved[0])
        test.sweeps_where("opencl:0", f"OpenCL, {name}", True, *hints)
        test.sweeps(f"the host, {name}", None, "--device", "host", *hints)
        test.sweeps(f"a device in the host's memory, {name}", None, *hints, HARRAY_SIM="unified=1")
        test.sweeps(f"slow queues, {name}", True, "--quiet", *hints, HARRAY_SIM="delay=100us")
        test.sweeps(f"fewer slabs, {name}", True, "--slabs", "9", "--budget", "600K", *hints)
        test.sweeps(f"all within the budget, {name}", False, "--budget", "64M", *hints)
    cuda = os.environ.get("HARRAY_CUDA")
    if cuda:
        test.sweeps("CUDA", True, "--device", "cuda:0", HARRAY_CUDA=cuda + ",nvrtc=/nowhere")
    lines = test.run(*SMALL).stdout.splitlines()
    test.check("a line for each step", sum(" step " in line for line in lines) == 6, lines)
    test.bad("a budget for nothing", 1, "no memory at sim:0", *SMALL, "--quiet", "--budget", "100K")
    test.bad("no such device", 1, "nosuch", "--device", "nosuch")
    test.bad("another option", 2, "there is no option", "--colour", "red")
    test.bad("no value", 2, "--n", "--n")
    test.bad("a small cube", 2, "from 48 to 4096, not '8'", "--n", "8")
    test.bad("no number", 2, "not 'many'", "--steps", "many")
    test.bad("no size", 2, "not '12T'", "--budget", "12T")
    test.bad("a large size", 2, "--budget", "--budget", "9999999999G")
    test.bad("thin slabs", 2, "there are 12 at most", "--n", "48", "--slabs", "13")
    test.check("help", test.run("--help").returncode == 0)
    return test.end()


if __name__ == "__main__":
    sys.exit(main())
