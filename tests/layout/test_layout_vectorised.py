#!/usr/bin/env python3
"""Are the loops of the layout benchmarks vectorised?

usage: test_layout_vectorised.py COMPILER LIBRARY [PROGRAM ...]    (LIBRARY: libharray.a, of any compiler)

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

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = ["-std=c11", "-O3", "-march=x86-64-v3", "-fno-math-errno", "-no-pie", "-w", f"-I{ROOT}",
           "-DBENCH_LINKED"]
SMALL = {"nbody": ["-DBODIES=259"], "stencil": ["-DPLANES=5", "-DROWS=5"],
         "lattice": ["-DPLANES=4", "-DROWS=4"]}

# mapped loop: its loops by hand, least share of arithmetic by vectors, most instructions per instruction
# of those. By hand AoS is not all in vectors either: gcc leaves the square root of it alone. In blocks of
# 16, two lanes look at neighbours in other blocks; 14 are 8 in a vector, and 6 that may be none.
LEAST = {"aos": 0.4, "soa": 0.9, "aosoa8": 0.9, "aosoa16": 0.9, "aosoa32": 0.9}
LOOPS = {
    "nbody": {f"mapped_{loop}_{layout}": ([f"hand_{loop}_{layout}"], least, 1.4)
              for loop in ("kick", "drift") for layout, least in LEAST.items()},
    "stencil": {
        "mapped_in_aos": (["hand_stencil_aos"], 0.9, 1.8),
        "mapped_in_soa": (["hand_stencil_soa"], 0.9, 1.8),
        "mapped_near_soa": (["hand_stencil_soa"], 0.9, 1.8),
        "mapped_near_rows16": (["hand_stencil_aosoa16"], 0.5, 1.8),
    },
    "lattice": {
        "mapped_in_soa": (["hand_lattice_soa"], 0.9, 1.8),
        "mapped_near_soa": (["hand_lattice_soa"], 0.9, 1.8),
        "mapped_near_rows16": (["hand_lattice_aosoa16"], 0.5, 1.8),
    },
}
for each in ("kick", "drift"):  # at run time each of these layouts, as often as the others
    LOOPS["nbody"][f"mapped_{each}_any"] = ([f"hand_{each}_{x}" for x in LEAST], 0.8, 1.4)

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
    """{function: {address: how often}}, without what is called from there, and {function: calls}."""
    out = folder / (program.name + ".callgrind")
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no",
                    "--compress-pos=no", f"--callgrind-out-file={out}", program, "--smoke"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts, calls = collections.defaultdict(collections.Counter), collections.Counter()
    function, called, of_a_call = None, None, False
    for line in out.read_text(encoding="utf-8").splitlines():
        if line.startswith("fn="):
            function = line[3:]
        elif line.startswith("cfn="):
            called = line[4:]
        elif line.startswith("calls="):
            calls[called] += int(line[6:].split()[0])
            of_a_call = True
        elif line.startswith("0x") and not of_a_call:
            words = line.split()
            counts[function][int(words[0], 16)] += int(words[-1])
        elif line.startswith("0x"):
            of_a_call = False
    return counts, calls


def looked_up(counts, calls, lanes):
    """{function: (instructions of a call, share of the arithmetic in vectors)}"""
    loops = {}
    for function, addresses in counts.items():
        work = collections.Counter()
        for address, count in addresses.items():
            width = lanes.get(address, 0)
            work[width > 1] += count * width
        total = work[True] + work[False]
        instructions = sum(addresses.values()) / max(calls[function], 1)
        loops[function] = (instructions, work[True] / total if total else 0)
    return loops


def measure(compiler, library, name, folder):
    program = folder / name
    subprocess.run([compiler, *OPTIONS, *SMALL[name], ROOT / "bench" / name / (name + ".c"), library,
                    f"-Wl,-rpath,{pathlib.Path(library).resolve().parent}", "-lm", "-ldl", "-pthread", "-o", program], check=True)
    return looked_up(*executed(program, folder), disassembled(program))


class Report:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, truth):
        self.count += 1
        self.failures += not truth
        print("ok" if truth else "not ok", self.count, "-", name, flush=True)


def judge(report, name, loops):
    for mapped, (by_hand, least, most) in LOOPS[name].items():
        absent = {mapped, *by_hand} - set(loops)
        if absent:
            report.check(f"{name}: there is {', '.join(sorted(absent))}", False)
            continue
        instructions, share = loops[mapped]
        hand_instructions = sum(loops[hand][0] for hand in by_hand) / len(by_hand)
        hand_share = sum(loops[hand][1] for hand in by_hand) / len(by_hand)
        ratio = instructions / hand_instructions
        report.check(f"{name}: {mapped} {share:.1%} in vectors (by hand {hand_share:.1%}), "
                     f"at least {least:.0%}", share >= least)
        report.check(f"{name}: {mapped} {ratio:.3f} of the instructions, at most {most:g}",
                     ratio <= most)


def main():
    compiler, library, *names = sys.argv[1:]
    missing = [p for p in (compiler, "valgrind", "objdump") if not shutil.which(p)]
    if missing or platform.machine() != "x86_64":
        print("1..0 # SKIP", ", ".join(missing) or platform.machine())
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {n: pool.submit(measure, compiler, library, n, pathlib.Path(folder))
                for n in names or LOOPS}
        for name, job in jobs.items():
            judge(report, name, job.result())
    print(f"1..{report.count}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
