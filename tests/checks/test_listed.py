#!/usr/bin/env python3
"""Checks that a program knows its kernels, however it is compiled and linked: in several files, in static
libraries, by C++, with sections that are dropped, with link-time optimisation; that it has the text of kernels in
files; and that a shared object knows its own. Prints TAP.

usage: test_listed.py
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {
    "main.c": """#define HARRAY_IMPLEMENTATION
#include "harray_kernels.h"
HA_KERNEL(in_main, ((inout, int, x)), i, { x[i] += 1; });
int launch_user(harray_int x);
void list_shared(void);
void list(const ha_kernel *first, const ha_kernel *last);
void list(const ha_kernel *first, const ha_kernel *last) {
    for (const ha_kernel *k = first; (k = ha_kernel_listed(k, last)); k++)
        printf("%s%s ", k->name, strstr(k->text, "x[i] += ") ? "" : ": no text");
    printf("\\n");
}
int main(void) {
    harray_int x = harray_int_zeros(3);
    HA_CHECK(in_main(ha_host(), HA_ALL_LANES, x));
    if (launch_user(x)) return 1;
    list(HA_JOIN_(__start_, HA_KERNEL_LIST_), HA_JOIN_(__stop_, HA_KERNEL_LIST_));
#ifdef SHARED
    list_shared();
#endif
    return harray_int_free(&x) != HA_OK;
}
""",
    "user.c": """#include "harray_kernels.h"
HA_KERNEL(in_user, ((inout, int, x)), i, { x[i] += 1; });
HA_KERNEL(another, ((value, int, a), (inout, int, x)), i, { x[i] += a; });
HA_KERNEL_FILE(listed, "kernels_of_user.h");
#include "kernels_of_user.h"
#ifdef __cplusplus
extern "C"
#endif
int launch_user(harray_int x);
int launch_user(harray_int x) {
    return in_user(ha_host(), HA_ALL_LANES, x) || another(ha_host(), HA_ALL_LANES, 2, x) ||
           in_file(ha_host(), HA_ALL_LANES, x);
}
""",
    "kernels_of_user.h": "HA_KERNEL_IN(listed, in_file, ((inout, int, x)), i) { x[i] += 3; }\n",
    "shared.c": """#include "harray_kernels.h"
HA_KERNEL(in_shared, ((inout, int, x)), i, { x[i] += 1; });
void list(const ha_kernel *first, const ha_kernel *last);
void list_shared(void);
void list_shared(void) {
    harray_int x = harray_int_zeros(3);
    HA_CHECK(in_shared(ha_host(), HA_ALL_LANES, x));
    HA_IGNORE(harray_int_free(&x));
    list(HA_JOIN_(__start_, HA_KERNEL_LIST_), HA_JOIN_(__stop_, HA_KERNEL_LIST_));
}
""",
}
ALL = {"in_main", "in_user", "another", "in_file"}
QUICK = "clang" if shutil.which("clang") else "gcc"  # for the implementation, which it compiles in half of the time
# name, compiler of user.c, its flags, flags of the linker
CASES = [
    ("gcc", "gcc", ["-O2"], []),
    ("gcc, without optimisation", "gcc", [], []),
    ("clang", "clang", ["-O2"], []),
    ("g++", "g++", ["-x", "c++", "-std=c++17", "-O2"], []),
    ("clang++", "clang++", ["-x", "c++", "-std=c++17", "-O2"], []),
    ("--gc-sections", "gcc", ["-O2", "-ffunction-sections", "-fdata-sections"], ["-Wl,--gc-sections"]),
    ("a static program", "gcc", ["-O2"], ["-static"]),
    ("link-time optimisation", "gcc", ["-O2", "-flto"], ["-flto"]),
    ("lld", "clang", ["-O2"], ["-fuse-ld=lld"]),
    ("gold", "gcc", ["-O2"], ["-fuse-ld=gold"]),
]
COMMON = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-pthread"]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def compile_file(folder, compiler, name, made, flags):
    common = [f for f in COMMON if not (f == "-std=c11" and "-std=c++17" in flags)]
    done = run(compiler, *common, *flags, "-c", name, "-o", made, cwd=folder)
    if done.returncode:
        sys.exit(done.stdout)


def link(folder, objects, flags):
    """What the program prints; or None: it cannot be linked so here."""
    compiler = "clang" if "-fuse-ld=lld" in flags else "gcc"
    done = run(compiler, *objects, *flags, "-o", "program", "-pthread", "-ldl", "-lm", cwd=folder)
    if done.returncode:
        return None, done.stdout
    done = run("./program", cwd=folder)
    return [set(line.split()) for line in done.stdout.splitlines()], done.stdout


def can_link(folder, flags):
    compiler = "clang" if "-fuse-ld=lld" in flags else "gcc"
    (folder / "empty.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    return run(compiler, *flags, "empty.c", "-o", "empty", cwd=folder).returncode == 0


def examine(folder, compiler, flags, linker):
    """What is wrong; "": nothing; None: skipped."""
    if not shutil.which(compiler) or not can_link(folder, linker):
        return None
    compile_file(folder, compiler, "user.c", "user.o", flags)
    archive = folder / "libuser.a"
    archive.unlink(missing_ok=True)
    run("gcc-ar", "rcs", "libuser.a", "user.o", cwd=folder)
    for objects in (["main.o", "user.o"], ["main.o", "libuser.a"]):
        found, said = link(folder, objects, linker)
        if found != [ALL]:
            return f"{objects}: {said}"
    return ""


def examine_shared(folder):
    compile_file(folder, "gcc", "user.c", "user.o", ["-O2"])
    compile_file(folder, "gcc", "main.c", "main_shared.o", ["-DSHARED"])
    compile_file(folder, "gcc", "shared.c", "shared.o", ["-O2", "-fPIC"])
    done = run("gcc", "-shared", "shared.o", "-o", "libshared.so", cwd=folder)
    if done.returncode:
        return done.stdout
    found, said = link(folder, ["main_shared.o", "user.o", "libshared.so"], ["-rdynamic", "-Wl,-rpath,."])
    return "" if found == [ALL, {"in_shared"}] else said


def main():
    failed = 0
    print(f"1..{len(CASES) + 1}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source, text in SOURCES.items():
            (folder / source).write_text(text, encoding="utf-8")
        compile_file(folder, QUICK, "main.c", "main.o", [])
        results = [(case, examine(folder, *rest)) for case, *rest in CASES]
        results.append(("a shared object", examine_shared(folder)))
    for number, (case, wrong) in enumerate(results, 1):
        failed += bool(wrong)
        skipped = " # SKIP it is not here" if wrong is None else ""
        print(f"{'not ok' if wrong else 'ok'} {number} - {case}{skipped}", flush=True)
        if wrong:
            print(wrong, file=sys.stderr)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
