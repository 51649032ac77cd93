#!/usr/bin/env python3
"""Is a * b + c contracted to one operation in kernels on the host: never, but with (option, contract, 1)? And
are those over records compiled for each layout?

usage: test_kernel_code.py LIBRARY     (libharray, of any compiler)

Compiles code_kernels.c for processors that have such operations (x86-64 by -march=haswell; arm64) and looks
at the machine code of each function. And where this machine has them, too, that code runs, and tells in how
many lanes the bits are others than those of two operations. Prints TAP. Skipped (77) without a compiler, and on
other processors.
"""
import collections
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "kernels" / "code_kernels.c"
FUSED = {"x86_64": re.compile(r"\s+vfn?m(?:add|sub)\w*\s"),
         "aarch64": re.compile(r"\s+(?:fn?m(?:add|sub)|fml[as]|fn?ml[as]|fn?mad|fn?msb)\s")}
OPTIONS = {"x86_64": ["-march=haswell"], "aarch64": []}
FUNCTION = re.compile(r"^([A-Za-z_][\w.]*):")
KERNEL = re.compile(r"^HA_(?:(?:TEAM_)?KERNEL(?:_EACH)?|REDUCE)(?:_IN)?\((?:code_file, )?(\w+),", re.MULTILINE)
C, CXX = ["-std=gnu11"], ["-x", "c++", "-std=gnu++17"]
# Each compiler as it is called by itself, which contracts elsewhere (gcc with -std=c11 does not); sanitized, as
# not everything is inlined then.
CALLS = {
    "gcc -O2": ["gcc", *C, "-O2"],
    "gcc -O3": ["gcc", *C, "-O3"],
    "gcc -std=c11": ["gcc", "-std=c11", "-O2"],
    "gcc, sanitized": ["gcc", *C, "-O2", "-fsanitize=address"],
    "clang -O0": ["clang", *C, "-O0"],
    "clang -O2": ["clang", *C, "-O2"],
    "clang -O3": ["clang", *C, "-O3"],
    "clang, sanitized": ["clang", *C, "-O2", "-fsanitize=address"],
    "g++ -O3": ["g++", *CXX, "-O3"],
    "clang++ -O3": ["clang++", *CXX, "-O3"],
    "nvcc": ["nvcc", "-x", "cu", "-std=c++17", "-O3"],
}
# Those that differ most; the others with HARRAY_TEST_LONG.
USUAL = ("gcc -O2", "gcc -O3", "clang -O2", "clang -O3", "g++ -O3", "clang++ -O3")
LEFT_ALONE = "users_own"  # by those that contract unless they are told not to
# What their compilers contract there is not for harray to say: nvcc has no word for what complex.h does against
# gcc's mistake.
NOT_PROMISED = {"nvcc": {"turned"}}
RUN = ("gcc -O3", "clang -O3", "g++ -O3", "clang++ -O3")


class Report:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, truth):
        self.count += 1
        self.failures += not truth
        print("ok" if truth else "not ok", self.count, "-", name, flush=True)


def kernels():
    """Their names."""
    return KERNEL.findall(SOURCE.read_text(encoding="utf-8") +
                          (SOURCE.parent / "code_kernels_file.h").read_text(encoding="utf-8"))


def assembly(call, machine, folder):
    """The assembler's text."""
    options = OPTIONS[machine]
    if call[0] == "nvcc":
        made = folder / "code_kernels.o"
        options = [f"-Xcompiler={option}" for option in options] + ["-Xcompiler=-fno-ipa-icf"]
        subprocess.run([*call, *options, f"-I{ROOT}", "-w", "-c", SOURCE, "-o", made], check=True, cwd=ROOT)
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", made], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return re.sub(r"^[0-9a-f]+ <(.*)>:$", r"\1:", text, flags=re.MULTILINE)
    if call[0] in ("gcc", "g++"):
        options = [*options, "-fno-ipa-icf"]  # equal functions are not to become one
    return subprocess.run([*call, *options, f"-I{ROOT}", "-w", "-S", SOURCE, "-o", "-"], check=True,
                          stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def contracted(text, machine):
    """{function: how many contracted operations}, with all functions."""
    counts, function = collections.Counter(), None
    for line in text.splitlines():
        found = FUNCTION.match(line)
        if found:
            function = found[1]
            counts[function] += 0
        elif FUSED[machine].search(line.split("#")[0] + " "):
            counts[function] += 1
    return counts


def is_of(function, kernel):
    """Whether a function is made of a kernel; C++ writes the length of a name in front of it."""
    return re.search(rf"(?:^|\d){kernel}_(?!fused)[a-z]+_", function) is not None


def judge_layouts(report, name, call, text):
    """code_kernels.c calls a function where a layout is not a constant."""
    if call[0] == "nvcc" or "-O0" in call or "-fsanitize=address" in call:
        return
    calls = re.findall(r"^\s+(?:call|jmp|bl?)\w*\s+\w*layout_looked_for", text, re.MULTILINE)
    report.check(f"{name}: no layout is looked for in a lane", not calls)


def judge_code(report, name, call, counts):
    for kernel in kernels():
        own = {f: n for f, n in counts.items() if is_of(f, kernel)}
        if not own:
            report.check(f"{name}: there is {kernel}", False)
        elif not kernel.endswith("_fused"):
            report.check(f"{name}: {kernel} contracts nothing, in {[f for f, n in own.items() if n]}",
                         kernel in NOT_PROMISED.get(name, ()) or not any(own.values()))
        elif "-fsanitize=address" not in call and "-O0" not in call:  # there a body may be a function
            report.check(f"{name}: {kernel} contracts, in {len(own)} functions", any(own.values()))
    others = {f for f, n in counts.items() if n and not any(is_of(f, k) for k in kernels())}
    users = {f for f in others if LEFT_ALONE in f}
    report.check(f"{name}: nothing else contracts, in {others - users}", others == users)
    if "-std=c11" not in call:  # gcc, and as strictly as that
        report.check(f"{name}: the user's own function still does", bool(users))


def judge_run(report, name, call, text, library, folder):
    program, code = folder / "code_kernels", folder / "code_kernels.s"
    code.write_text(text, encoding="utf-8")
    subprocess.run([call[0], code, library, f"-Wl,-rpath,{library.parent}", "-lm", "-ldl", "-pthread",
                    "-o", program], check=True, cwd=ROOT)
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    report.check(f"{name}: the program runs", run.returncode == 0)
    for line in run.stdout.splitlines():
        kernel, lanes = line.split()
        different = int(lanes) != 0 if kernel.endswith("_fused") else int(lanes) == 0
        report.check(f"{name}: {kernel} has other bits in {lanes}", different and int(lanes) >= 0)
    told = {line.split()[0] for line in run.stdout.splitlines()}
    report.check(f"{name}: all kernels have run, but for {set(kernels()) - told}", told == set(kernels()))


def has_contraction(machine):
    """This very machine."""
    return machine != "x86_64" or re.search(r"^flags\s*:.*\bfma\b.*\bavx2\b|^flags\s*:.*\bavx2\b.*\bfma\b",
                                            pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"),
                                            re.MULTILINE) is not None


def main():
    library, machine = pathlib.Path(sys.argv[1]).resolve(), platform.machine()
    calls = {name: call for name, call in CALLS.items() if shutil.which(call[0]) and
             (name in USUAL or os.environ.get("HARRAY_TEST_LONG"))}
    if machine not in FUSED or not calls:
        print("1..0 # SKIP", machine if calls else "no compiler")
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls.items():
            text = assembly(call, machine, pathlib.Path(folder))
            judge_code(report, name, call, contracted(text, machine))
            judge_layouts(report, name, call, text)
            if name in RUN and has_contraction(machine):
                judge_run(report, name, call, text, library, pathlib.Path(folder))
    print(f"1..{report.count}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
