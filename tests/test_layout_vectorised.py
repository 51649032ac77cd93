#!/usr/bin/env python3
"""Are the loops of the layout benchmarks vectorised? test_layout_vectorised.py COMPILER [PROGRAM ...]

Builds bench/nbody, stencil and lattice small, runs them under callgrind, which counts how often each
instruction is executed, and looks each of them up in the disassembly. Of every loop it says how much
of its arithmetic was done by vector instructions (each counted by its lanes), and how many instructions
it took compared with the loop by hand of the same layout. Nothing is timed: the counts are the same in
every run. Skipped (77) without the compiler, callgrind or objdump, and on other processors than x86-64.
"""
import collections
import concurrent.futures
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-std=c11", "-O3", "-march=x86-64-v3", "-fno-math-errno", "-no-pie", "-w", f"-I{ROOT}",
           "-lm", "-pthread"]
SMALL = {"nbody": ["-DBODIES=259"], "stencil": ["-DPLANES=5", "-DROWS=5"],
         "lattice": ["-DPLANES=4", "-DROWS=4"]}

# mapped loop: its loop by hand, least share of arithmetic by vectors, most instructions per instruction
# of that one. By hand AoS is not all in vectors either: gcc leaves the square root of it alone.
LOOPS = {
    "nbody": {f"mapped_{loop}_{layout}": (f"hand_{loop}_{layout}", least, 1.5)
              for loop in ("kick", "drift")
              for layout, least in (("aos", 0.4), ("soa", 0.9), ("aosoa8", 0.9),
                                    ("aosoa16", 0.9), ("aosoa32", 0.9))},
}

ARITHMETIC = re.compile(r"v?(?:add|sub|mul|div|sqrt|fn?m(?:add|sub)\d+)(ps|pd|ss|sd)\b(.*)")
LANES = {("ps", "x"): 4, ("ps", "y"): 8, ("ps", "z"): 16, ("pd", "x"): 2, ("pd", "y"): 4,
         ("pd", "z"): 8}


def lanes_of(instruction):
    """How many numbers an instruction computes; 0 when it is no arithmetic, 1 for a scalar."""
    found = ARITHMETIC.match(instruction)
    if not found:
        return 0
    kind, operands = found.groups()
    if kind in ("ss", "sd"):
        return 1
    return max((LANES[kind, size] for size in re.findall(r"%([xyz])mm", operands)), default=0)


def disassembled(program):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {int(address, 16): lanes_of(instruction)
            for address, instruction in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", text, re.MULTILINE)}


def executed(program, folder):
    """{function: {address: how often}}, without what is called from there."""
    out = folder / (program.name + ".callgrind")
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no",
                    "--compress-pos=no", f"--callgrind-out-file={out}", program, "--smoke"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts = collections.defaultdict(collections.Counter)
    function, of_a_call = None, False
    for line in out.read_text(encoding="utf-8").splitlines():
        if line.startswith("fn="):
            function = line[3:]
        elif line.startswith("calls="):
            of_a_call = True
        elif line.startswith("0x") and not of_a_call:
            words = line.split()
            counts[function][int(words[0], 16)] += int(words[-1])
        elif line.startswith("0x"):
            of_a_call = False
    return counts


def looked_up(counts, lanes):
    """{function: (instructions, share of the arithmetic in vectors)}"""
    loops = {}
    for function, addresses in counts.items():
        work = collections.Counter()
        for address, count in addresses.items():
            width = lanes.get(address, 0)
            work[width > 1] += count * width
        total = work[True] + work[False]
        loops[function] = (sum(addresses.values()), work[True] / total if total else 0)
    return loops


def measure(compiler, name, folder):
    program = folder / name
    subprocess.run([compiler, *SMALL[name], ROOT / "bench" / name / (name + ".c"), "-o", program,
                    *OPTIONS], check=True)
    return looked_up(executed(program, folder), disassembled(program))


class Report:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, truth):
        self.count += 1
        self.failures += not truth
        print("ok" if truth else "not ok", self.count, "-", name, flush=True)


def judge(report, name, loops):
    for mapped, (by_hand, least, most) in LOOPS[name].items():
        if mapped not in loops or by_hand not in loops:
            report.check(f"{name}: {mapped} and {by_hand} are there", False)
            continue
        instructions, share = loops[mapped]
        hand_instructions, hand_share = loops[by_hand]
        ratio = instructions / hand_instructions
        report.check(f"{name}: {mapped} {share:.1%} in vectors (by hand {hand_share:.1%}), "
                     f"at least {least:.0%}", share >= least)
        report.check(f"{name}: {mapped} {ratio:.3f} of the instructions, at most {most:g}",
                     ratio <= most)


def main():
    compiler, names = sys.argv[1], sys.argv[2:] or list(LOOPS)
    missing = [p for p in (compiler, "valgrind", "objdump") if not shutil.which(p)]
    if missing or platform.machine() != "x86_64":
        print("1..0 # SKIP", ", ".join(missing) or platform.machine())
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {n: pool.submit(measure, compiler, n, pathlib.Path(folder)) for n in names}
        for name, job in jobs.items():
            judge(report, name, job.result())
    print(f"1..{report.count}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
