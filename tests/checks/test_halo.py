#!/usr/bin/env python3
"""Checks examples/halo: test_halo.py HALO

The program itself says whether what moved were the halos, and whether the result is that of a plain
loop; here the numbers are reckoned again.
"""
import re
import sys

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position


class Test(Checks):
    def moves(self, name, expected, *arguments, **environment):
        """expected: for each step the bytes that both halves receive."""
        done = self.run(*arguments, **environment)
        lines = done.stdout.splitlines()
        received = [[int(n) for n in re.findall(r" (\d+)(?=,| bytes)", line)]
                    for line in lines if line.startswith("step ")]
        self.check(name, done.returncode == 0 and done.stderr == "" and received == expected
                   and "bit for bit" in lines[-1] and "NOT" not in done.stdout, done)

    def moves_where(self, device, name, *rest, **environment):
        """The same on devices that need not be here."""
        if self.run("--steps", "0", *pair(device, device)).returncode == 0:
            self.moves(name, *rest, **environment)
        else:
            self.skip(name, f"there is no {device}")



def pair(first, second):
    return ["--device", first, "--device", second]


def main():
    test = Test(sys.argv[1])
    small = ["--size", "9", "20", "--steps", "4"]  # rows of 160 bytes, columns of 72
    test.moves("sim:0 and sim:1", [[501 * 4000] * 2] + [[4000] * 2] * 4)
    test.moves("columns", [[251 * 8000] * 2] + [[8000] * 2] * 4, "--columns")
    test.moves("halves of different sizes", [[5 * 160, 6 * 160]] + [[160] * 2] * 3, *small)
    test.moves("columns of these", [[11 * 72] * 2] + [[72] * 2] * 3, *small, "--columns")
    test.moves("sim:0 and the host", [[5 * 160, 0]] + [[160] * 2] * 3, *small, *pair("sim", "host"))
    test.moves("the host and sim:0", [[0, 11 * 72]] + [[72] * 2] * 3, *small, "--columns",
               *pair("host", "sim"))
    test.moves("the host alone", [[0] * 2] * 4, *small, *pair("host", "host"))
    test.moves("one device", [[5 * 160, 4 * 160]] + [[0] * 2] * 3, *small, *pair("sim:1", "sim:1"))
    test.moves("devices that reach each other", [[5 * 160, 6 * 160]] + [[160] * 2] * 3, *small,
               HARRAY_SIM="peers=1")
    test.moves("slow ones", [[5 * 160, 6 * 160]] + [[160] * 2] * 3, *small,
               HARRAY_SIM="delay=300us,bandwidth=64M")
    test.moves_where("opencl", "OpenCL and sim:0", [[5 * 160, 6 * 160]] + [[160] * 2] * 3, *small,
                     *pair("opencl", "sim"))
    test.moves_where("opencl", "columns of these", [[0, 11 * 72]] + [[72] * 2] * 3, *small, "--columns",
                     *pair("host", "opencl"), HARRAY_CACHE="off")
    test.moves_where("opencl", "OpenCL alone", [[5 * 160, 4 * 160]] + [[0] * 2] * 3, *small,
                     *pair("opencl", "opencl"), HARRAY_KERNELS="strict")
    test.moves("no step", [], "--steps", "0")
    test.bad("a device that is not there", 1, "sim:7", *pair("sim:0", "sim:7"))
    test.bad("one device only", 2, "usage", "--device", "sim")
    test.bad("a small plate", 2, "usage", "--size", "3", "10")
    test.bad("no number", 2, "usage", "--steps", "many")
    test.bad("another option", 2, "usage", "--rows")
    return test.end()


if __name__ == "__main__":
    sys.exit(main())
