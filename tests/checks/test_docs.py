#!/usr/bin/env python3
"""Checks README.md and docs/*.md: programs do what is said of them, links and names lead somewhere.

usage: test_docs.py [--show DIR]
  --show DIR  builds the program of README.md in DIR and shows what it prints, without judging

Every block of code that has a main is a whole program:
    ```c     is compiled as C11, with warnings as errors, and run. That of README.md is compiled as it is; others that
             have the implementation in them are linked with one instead that is compiled once.
              With MPI_Init, where there is an MPI, and it runs on two ranks; with harray_hdf5.h, where there is HDF5;
              with loops of OpenMP's, where the compiler has it
    ```cpp   the same as C++17, with the implementation in another file, as docs/using.md says
    ```fortran  is compiled with the module of fortran/, as Fortran 2008, where there is a gfortran, and run
    ```cuda  is compiled where nvcc is; without a GPU nobody can run it
Behind it stands what it prints, on stdout and stderr: in a ```console block, which is compared (a signal
that ends the program is told as shells do), or in a ```text block where it differs from run to run.
A ```c block without a main is a part of a file of the tree, which the builds compile.

The table of states is what examples/states.c prints. A relative link points to a file, and one with an
anchor to a heading in it. A file or a name of harray's between backquotes is one that there is. All files of
the engine stand in the list of its layers, and no others. The environment may have a driver with GPUs: what
the programs do must not depend on that. Those with kernels are run without: the driver of the tests computes
nothing that it was not told of. Those of docs/operations.md print the same on a simulated device, and on one of OpenCL
where there is one.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRONT = ROOT / "README.md"
PAGES = [FRONT, *sorted((ROOT / "docs").glob("*.md"))]
MADE = "api.md"
EVERYWHERE, DEVICES = "operations.md", ("sim", "opencl")  # what is said of programs there is so on these, too
MOST_BYTES = 6144  # of README.md
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
C = ["cc", "-std=c11", *WARNINGS, "-Wconversion", f"-I{ROOT}"]
# Of programs that have all in one file, what they do not call is not compiled.
STATIC = "-DHARRAY_STATIC"
CPP = ["c++", "-std=c++17", *WARNINGS, f"-I{ROOT}"]
FORTRAN = ["gfortran", "-std=f2008", "-Wall", "-Wextra", "-Werror", "-fcheck=all"]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
INSIDE = re.compile(r"^ *# *define +HARRAY_IMPLEMENTATION *\n", re.MULTILINE)
# pkg-config's names of MPIs, and their launchers.
MPIS = {"mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"), "ompi-c": ("mpiexec.openmpi", "mpiexec")}
# The HDF5 of each; and of one process alone.
HDF5 = {"mpich": "hdf5-mpich", "ompi-c": "hdf5-openmpi", None: "hdf5-serial"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
IMPLEMENTATION = '#define HARRAY_IMPLEMENTATION\n#include "harray.h"\n'
CODE = ("c", "cpp", "cuda", "fortran")
OTHERS = ("console", "text", "sh", "json", "diff", "")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# but for the types of accesses, which HARRAY and HA_ARRAY make
WORD = re.compile(r"\b(?!ha_read_|ha_write_)(?:ha|HA|HARRAY|darray|DARRAY)_\w+")


def read(page):
    return page.read_text(encoding="utf-8")


def complain(text):
    print(text, file=sys.stderr, flush=True)


# ---- programs --------------------------------------------------------------------------------------


class Block:
    """A block of code, and the block behind it that says what it prints."""

    def __init__(self, page, match, following):
        self.page, self.language, self.text = page, match[1], match[2]
        self.name = f"{page.relative_to(ROOT)}:{match.string.count(chr(10), 0, match.start()) + 1}"
        self.is_program = re.search(r"\bint main\(|^program ", self.text, re.MULTILINE) is not None
        self.output_kind, self.output = (following[1], following[2]) if following else ("", "")


def blocks(page):
    """Of code, each with the first other block behind it and before the next one of code."""
    matches = list(FENCED.finditer(read(page)))
    for match, following in zip(matches, [*matches[1:], None]):
        if match[1] in CODE:
            yield Block(page, match, following if following and following[1] in OTHERS else None)


def compile_implementation(source, folder, flags=()):
    """For all programs that can be linked with it: numbers are the same without SIMD."""
    made = pathlib.Path(folder) / f"implementation_{source.stem}.o"
    subprocess.run([C[0], "-std=c11", "-DHARRAY_NO_SIMD", f"-I{ROOT}", "-c", source, *flags, "-o", made], check=True)
    return made


def compile_implementations(folder):
    """What programs are linked with: the library; and with it where they have MPI, if there is one."""
    of_mpi = surroundings("MPI_Init(")
    source = pathlib.Path(folder) / "mpi.c"
    source.write_text(IMPLEMENTATION.replace("harray.h", "harray_mpi.h"), encoding="utf-8")
    return (compile_implementation(ROOT / "backends" / "library.c", folder),
            compile_implementation(source, folder, compiling(of_mpi[0])) if of_mpi else None)


def compiling(flags):
    """What is not for the linker."""
    return [flag for flag in flags if not re.match("-l|-L|-W", flag)]


def uses_mpi(text):
    return "MPI_Init(" in text


def uses_hdf5(text):
    return '#include "harray_hdf5.h"' in text


def flags_of(packages):
    """What to compile and link with, or None"""
    if not packages:
        return []
    found = shutil.which("pkg-config") and subprocess.run(["pkg-config", "--cflags", "--libs", *packages],
                                                          capture_output=True, text=True, check=False)
    return found.stdout.split() if found and found.returncode == 0 else None


def surroundings(text):
    """(what to compile and link with, what starts it), or None: that is not here"""
    for name, launchers in MPIS.items() if uses_mpi(text) else [(None, ())]:
        launcher = next(filter(None, map(shutil.which, launchers)), None)
        flags = flags_of([*([name] if name else []), *([HDF5[name]] if uses_hdf5(text) else [])])
        if flags is not None and (launcher or not name):
            return flags, [launcher, "-n", "2"] if name else []
    return None


def uses_openmp(text):
    return "#pragma omp" in text


def has_openmp():
    done = subprocess.run([C[0], "-fopenmp", "-xc", "-", "-o", "/dev/null"], input="int main(void) { return 0; }",
                          capture_output=True, text=True, check=False)
    return done.returncode == 0


def inside(text, implementation):
    """What a C program is compiled with besides."""
    return (["-fopenmp"] if uses_openmp(text) else []) + implementation_inside(text, implementation)


def is_linked(text):
    """Can an implementation be linked with it, instead of what it has inside?"""
    defined = re.findall(r"^ *# *define +(HARRAY_\w+)", text, re.MULTILINE)
    return defined == ["HARRAY_IMPLEMENTATION"] and not uses_hdf5(text)


def implementation_inside(text, implementation):
    """What a C program is compiled with, where the implementation is in it."""
    around = [*surroundings(text)[0], "-lm"] if uses_mpi(text) or uses_hdf5(text) else []
    if implementation and is_linked(text):
        return [implementation, *(around or ["-lm"])]
    return [STATIC, *around] if INSIDE.search(text) else around


def build(language, text, folder, implementation=None):
    """Compiles a program in a folder, linked with the implementation if there is one; is there one to be run?"""
    source = {"c": "program.c", "cpp": "program.cpp", "cuda": "program.cu", "fortran": "program.f90"}[language]
    if language == "c" and implementation and is_linked(text):
        (folder / source).write_text(INSIDE.sub("\n", text), encoding="utf-8") # lines keep their numbers
    else:
        (folder / source).write_text(text, encoding="utf-8")
    commands = {"c": [[*C, source, *inside(text, implementation), "-o", "program", "-pthread"]],
                "cpp": [[*C, "-c", "harray.c"],
                        [*CPP, source, "harray.o", "-o", "program", "-pthread"]],
                "fortran": [[C[0], "-std=c11", f"-I{ROOT}", "-c", ROOT / "fortran" / "harray_fortran.c"],
                            [*FORTRAN, ROOT / "fortran" / "harray.f90", source, "harray_fortran.o",
                             *([implementation] if implementation else []), "-o", "program", "-pthread", "-lm",
                             "-ldl"]],
                "cuda": [[NVCC, "-I", str(ROOT), "-c", source]]}
    if language == "cpp":
        (folder / "harray.c").write_text(IMPLEMENTATION, encoding="utf-8")
    for command in commands[language]:
        subprocess.run(command, cwd=folder, check=True)
    return language != "cuda"


def run(folder, **more):
    """The exit status of the program there, and all that it prints. more: of the environment"""
    kept = ["HARRAY_CACHE", "HARRAY_CUDA"]
    sources = [read(path) for path in pathlib.Path(folder).glob("program.*")]
    if any(re.search(r"harray_(kernels|ops)\.h", text) for text in sources):
        kept.remove("HARRAY_CUDA")
    launcher = surroundings("\n".join(sources))[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARRAY_") or k in kept}
    done = subprocess.run([*launcher, "./program"], cwd=folder, env=environment | AS_ROOT | more, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    how = signal.strsignal(-done.returncode) + "\n" if done.returncode < 0 else ""
    return done.returncode, done.stdout + how


def keeps_its_word(block, implementation):
    """Does the program compile, and print what stands behind it? None: nothing here compiles it."""
    compiler = {"c": C[0], "cpp": CPP[0], "cuda": NVCC, "fortran": FORTRAN[0]}[block.language]
    if not compiler or not shutil.which(compiler) or not surroundings(block.text) or (
            uses_openmp(block.text) and not has_openmp()):
        return None
    with tempfile.TemporaryDirectory() as name:
        try:
            if not build(block.language, block.text, pathlib.Path(name), implementation):
                return True
        except subprocess.CalledProcessError as error:
            complain(f"{block.name}: {error}")
            return False
        status, printed = run(name)
        for device in DEVICES if block.page.name == EVERYWHERE and block.output == printed else []:
            there = run(name, HARRAY_DEVICE=device, HARRAY_CACHE="off")[1]
            if there != printed:
                complain(f"{block.name}: on {device} it prints\n{there}")
                return False
    if block.output_kind == "console" and block.output == printed:
        return True
    if block.output_kind == "text" and status == 0:
        return True
    complain(f"{block.name}: exit status {status}, and it prints\n{printed}")
    return False


def states_are_current(implementation):
    text = read(ROOT / "examples" / "states.c").replace("../harray.h", "harray.h")
    with tempfile.TemporaryDirectory() as name:
        build("c", text, pathlib.Path(name), implementation)
        status, table = run(name)
    return status == 0 and table.count("\n") > 10 and table in read(ROOT / "docs" / "guide.md")


# ---- links and names -------------------------------------------------------------------------------


def prose(page):
    return FENCED.sub("", read(page))


def anchors(page):
    """Those of its headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def dead_links(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not re.match(r"https?://", link) and (
                not target.exists() or (anchor and anchor not in anchors(target))):
            yield link


class Tree:
    """What a page may mention: files of the tree, by the end of their path, and names in the library."""

    def __init__(self):
        self.files, self.library, self.sources = [], set(), []
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith((".", "build"))]
            self.files += [(pathlib.Path(folder) / name).relative_to(ROOT) for name in files]
        for file in self.files:
            if file.suffix in (".h", ".c", ".cu", ".f90"):
                self.sources.append(read(ROOT / file))
                if file.parts[0] not in ("tests", "bench", "examples"):
                    self.library.update(WORD.findall(self.sources[-1]))

    def unknown(self, page):
        for span in re.findall(r"`([^`\n]+)`", prose(page)):
            if re.fullmatch(r"[\w./-]+\.(h|c|cu|py|f90)", span):
                if not any(file.match(span) for file in self.files):
                    yield span
            yield from (word for word in WORD.findall(span) if word not in self.library)

    def stray(self, all_blocks):
        """Parts of files that are in none."""
        for block in all_blocks:
            lines = textwrap.dedent(block.text).strip().splitlines()
            part = re.compile(r"\n".join(r"[ \t]*" + re.escape(line.strip()) for line in lines))
            if not block.is_program and not any(part.search(text) for text in self.sources):
                yield block.name


def layers_misnamed():
    """Of the engine's layers: those whose files are not the ones that the row of docs/engine.md names."""
    rows = {row[1]: re.findall(r"`([^`]+)`", row[2])
            for row in re.finditer(r"^\| `(\w+)` \| (.*) \|$", read(ROOT / "docs" / "engine.md"), re.MULTILINE)}
    for folder in sorted((ROOT / "harray" / "impl").iterdir()):
        files = sorted(file.name for file in folder.glob("*.h") if file.name != "all.h")
        if files != rows.get(folder.name):
            yield f"harray/impl/{folder.name} has {', '.join(files)}"


def judged(name, findings):
    """A check that has found nothing is passed."""
    findings = list(findings)
    for finding in findings:
        complain(f"{name}: {finding}")
    return name, not findings


def checks_of_text(all_blocks):
    tree = Tree()
    size = len(FRONT.read_bytes())
    yield f"README.md has at most {MOST_BYTES} bytes: {size}", size <= MOST_BYTES
    yield judged("README.md links all pages",
                 (page.name for page in PAGES[1:] if f"(docs/{page.name})" not in read(FRONT)))
    yield judged("docs/engine.md names the files of each layer", layers_misnamed())
    yield judged("parts of files", tree.stray(all_blocks))
    yield judged("languages of blocks", (f"{page.name}: {match[1]}" for page in PAGES
                                         for match in FENCED.finditer(read(page))
                                         if match[1] not in CODE + OTHERS))
    for page in PAGES:
        yield judged(f"{page.name}: links", dead_links(page))
        if page.name != MADE: # from the headers, and compared with them by tools/api
            yield judged(f"{page.name}: names", tree.unknown(page))


def main():
    if sys.argv[1:2] == ["--show"] and len(sys.argv) == 3:
        folder = pathlib.Path(sys.argv[2])
        build("c", next(blocks(FRONT)).text, folder)
        print(run(folder)[1], end="")
        return 0
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    all_blocks = [block for page in PAGES for block in blocks(page)]
    programs = [block for block in all_blocks if block.is_program]
    with concurrent.futures.ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        implementation, with_mpi = compile_implementations(folder)
        states = pool.submit(states_are_current, implementation)
        good = list(pool.map(lambda program: keeps_its_word(
            program, None if program.page == FRONT else with_mpi if uses_mpi(program.text) else implementation),
                             programs))
    results = [("the table of states", states.result())]
    results += [(program.name, fine) for program, fine in zip(programs, good)]
    results += checks_of_text(all_blocks)
    for number, (name, fine) in enumerate(results, 1):
        skipped = " # SKIP no compiler for it" if fine is None else ""
        print(f"{'not ok' if fine is False else 'ok'} {number} - {name}{skipped}")
    print(f"1..{len(results)}")
    return 1 if any(fine is False for _, fine in results) else 0


if __name__ == "__main__":
    sys.exit(main())
