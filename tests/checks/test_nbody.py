#!/usr/bin/env python3
"""Checks examples/nbody: test_nbody.py NBODY

That the physics is right, the program says itself (--check); here, that it is the same in every layout,
that --check can fail, and what is refused.
"""
import pathlib
import re
import shlex
import sys
import tempfile

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position

LAYOUTS = ["aos", "soa", "aosoa(4)", "aosoa(8)", "aosoa(16)", "aosoa(32)", "soa(single)"]


class Test(Checks):
    def good(self, name, *arguments, **environment):
        """What it printed, but for the layout's name."""
        done = self.run(*arguments, "--check", **environment)
        self.check(name, done.returncode == 0 and done.stderr == "" and ": good" in done.stdout
                   and "WRONG" not in done.stdout, done)
        return re.sub(r"bodies as \S+,", "bodies,", done.stdout)

    def moved(self, name, *arguments, **environment):
        """What it printed but for what was moved, which has to be judged, and the lines about that."""
        text = self.good(name, *arguments, **environment)
        moved = [x for x in text.splitlines() if x.startswith(("to ", "bytes "))]
        self.check(f"{name}: what moved is counted", len(moved) == 3
                   and all(": good" in x for x in moved[1:]), text)
        return "".join(x + "\n" for x in text.splitlines() if x not in moved), moved

    def wrong(self, name, what, *arguments):
        done = self.run(*arguments, "--check")
        line = next((x for x in done.stdout.splitlines() if x.startswith(what)), "")
        self.check(name, done.returncode == 1 and ": WRONG" in line, done)


    def bad(self, name, *how, **where):
        done = super().bad(name, *how, **where)
        self.check(f"{name}: nothing else is printed", done.stdout == "", done)


def documented(test):
    """The counts in docs are those that it makes."""
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    text = (docs / "layouts.md").read_text(encoding="utf-8")
    commands = [shlex.split(line)[1:] for line in text.split("\n") if line.startswith("nbody --")]
    test.check("documented counts", len(commands) == 2, commands)
    for *words, name in commands:
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / pathlib.Path(name).name
            done = test.run(*words, str(made))
            test.check(name, done.returncode == 0 and made.read_text(encoding="utf-8")
                       == (docs / name).read_text(encoding="utf-8"), done)


def main():
    test = Test(sys.argv[1])
    solar = test.good("the solar system", "--years", "1.1", "--layout", "soa")
    test.check("has a year and a month", "Earth's year     365.2" in solar
               and "Moon's month     27.3" in solar, solar)
    cluster = ["--cluster", "101", "--time", "0.25"]
    expected = test.good("a cluster", *cluster, "--layout", "soa")
    test.check("of as many stars", expected.startswith("101 bodies, 16 steps"), expected)
    for layout in LAYOUTS:
        text = test.good(f"the cluster as {layout}", *cluster, "--layout", layout)
        test.check(f"does the same as {layout}", text == expected, text, expected)
    other = test.good("another seed", *cluster, "--seed", "2")
    test.check("is another cluster", other != expected, other)
    for count in ("2", "16", "17"):
        test.good(f"{count} stars", "--cluster", count, "--time", "0.05", "--layout", "aosoa(16)")

    # Of 101 stars four teams fetch all twice in a step, and each lane its own.
    counted = test.good("a layout that counts", *cluster, "--layout", "count(heatmap(aos))")
    words = " ".join(counted.split())
    test.check("says what the first step touches", words.startswith(
        "field reads writes pointers pos.x 0 0 1111 pos.y 0 0 1111 pos.z 0 0 1111 "
        "vel.x 0 0 303 vel.y 0 0 303 vel.z 0 0 303 mass 0 0 808 blob "), counted)
    test.check("and does the same", counted.endswith(expected.split("bodies", 1)[1]), counted)
    documented(test)
    advice = test.run("--cluster", "20", "--advise")
    lines = advice.stdout.splitlines()
    test.check("advises layouts", advice.returncode == 0 and len(lines) == 7
               and lines[0].split() == "layout best median ratio bytes".split()
               and {line.split()[0] for line in lines[1:]} == {
                   "aos", "soa", "aosoa(8)", "aosoa(16)", "aosoa(32)", "aosoa(64)"}, advice)
    there, moved = test.moved("the solar system on a device", "--years", "1.1", "--device", "sim:0")
    test.check("is the same there", there == solar, there, solar)
    counts = [int(x) for x in re.findall(r"\d+", moved[0].split(":", 2)[2])]
    test.check("what was not used has not moved", 5 * counts[1] < counts[2], moved)
    for host, device in (("aos", "soa"), ("soa", "aos"), ("aosoa(8)", "aosoa(16)"), ("aos", "aos"),
                         ("soa(single)", "split(separate; pos: soa, aos)")):
        text, _ = test.moved(f"the cluster as {host} and {device}", *cluster, "--layout", host,
                             "--device", "sim:0", "--device-layout", device)
        test.check(f"does the same as {host} and {device}", text == expected, text, expected)
    if test.run(*cluster, "--device", "opencl").returncode == 0:
        for layout in ("soa", "aos", "aosoa(16)"):
            text, _ = test.moved(f"the cluster on OpenCL as {layout}", *cluster, "--device", "opencl",
                                 "--device-layout", layout, HARRAY_KERNELS="strict")
            test.check(f"does the same on OpenCL as {layout}", text == expected, text, expected)
    else:
        test.skip("the cluster on OpenCL", "there is none")
    there = test.good("in one memory", *cluster, "--device", "host", "--layout", "aos")
    test.check("nothing moves", there == expected, there)
    test.wrong("steps as long as a week", "Moon's month", "--years", "1.1", "--step", "7")
    test.wrong("no whole year", "Earth's year", "--years", "0.5", "--step", "1")
    test.bad("no layout", 1, "at character 0", "--layout", "nosuch")
    test.bad("no device", 1, "nosuch", "--device", "nosuch:0")
    test.bad("no layout there", 1, "at character 0", "--device", "sim:0", "--device-layout", "nosuch")
    test.bad("a layout that no view has", 1, "no view sky", "--device", "sim:0", "--device-layout",
             "byteswap(soa)")
    test.bad("half a layout", 1, "at character", "--layout", "aosoa(")
    test.bad("a layout that stores nothing", 1, "--layout null: ", "--layout", "null")
    done = test.run("--years", "0.001", "--counts", "/nonexistent/counts.json")
    test.check("no counts", done.returncode == 1 and "counts nothing" in done.stderr, done)
    done = test.run("--years", "0.001", "--counts", "/nonexistent/x", "--layout", "count(aos)")
    test.check("no folder", done.returncode == 1 and "cannot write" in done.stderr, done)
    test.bad("no number", 2, "--years", "--years", "x")
    test.bad("no star", 2, "--cluster", "--cluster", "1")
    test.bad("no such option", 2, "--nosuch", "--nosuch", "1")
    test.bad("no value", 2, "Usage", "--layout")
    done = test.run("--help")
    test.check("help", done.returncode == 0 and "--layout" in done.stdout, done)
    return test.end()


if __name__ == "__main__":
    sys.exit(main())
