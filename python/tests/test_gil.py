"""The GIL is released wherever a thread may wait. Of builds with checks, in which each place that releases it can be dropped: then
whatever waits there, or might have to, has to find the thread with the GIL. tools/test-python --sanitize makes one."""
import importlib.util
import os
import resource
import signal
import subprocess
import sys
import textwrap

import pytest

import harray as ha
from test_memory_kinds import stand_in

HAS_TESTCAPI = importlib.util.find_spec("_testcapi") is not None # some distributions have it in a package of its own
KERNELS = r"""
#include <harray_ops.h>
HA_KERNEL(double_it, ((inout, double, x)), i, { x[i] *= 2; });
HA_KERNEL_EXPORT(double_it);
"""
START = """
    import os, sys, threading, time
    import numpy as np
    import every_call
    import harray as ha
    main = threading.main_thread().ident
    sim = ha.context("sim:0")

    def until_the_end(*_):
        '''Until the interpreter runs no more Python on its main thread: it waits there for whoever has called.'''
        while main in sys._current_frames():
            time.sleep(0.001)
"""

# Each is a process of its own.
PROGRAMS = {
    "calls": """
        for call in (*every_call.CALLS.values(), *every_call.ONCE.values()):
            call()
    """,
    "others' memory": """
        every_call.reads_of_others()
        class Usm:
            def __init__(self, memory):
                self.__sycl_usm_array_interface__ = memory.__sycl_usm_array_interface__
        ha.wrap(Usm(ha.Memory(64, "device", "sycl:0")))
        ha.array(every_call.X, copy=True), ha.array(np.zeros(3), copy=True), ha.array(bytearray(8)), ha.wrap(memoryview(bytes(8)))
    """,
    "a library": """
        ha.Library(os.environ["HARRAY_TEST_KERNELS"]).double_it("host", 3, every_call.X)
    """,
    "the best": """
        sys.modules["dpctl"] = sys # as if it had been imported
        ha.best()
    """,
    "on the host": """
        kernel = ha.kernel("add_two", "(inout, double, x)", "i", "x[i] += 2;")
        try:
            kernel("host", 3, every_call.X)
        except NotImplementedError:
            pass # without PoCL
        kernel.log("host")
    """,
    "verified reads": """
        assert os.environ["HARRAY_VERIFY_READS"] == "1" # which run() has set
        with every_call.X.read(sim) as v:
            v.pointer
        v = every_call.X.read(sim)
        v.pointer
        del v
    """,
    "waits": """
        def threads():
            return len(os.listdir("/proc/self/task"))
        def held(leave):
            with x.write():
                opened.set()
                leave()
        def when_another_waits(event, count):
            while threads() <= count: # one more is that which waits in the place of the main one
                time.sleep(0.001)
            event.set()
        x, opened, leave = ha.zeros(3), threading.Event(), threading.Event()
        holder = threading.Thread(target=held, args=(leave.wait,))
        holder.start()
        opened.wait()
        try:
            x.read(wait=False)
        except BlockingIOError:
            pass
        threading.Thread(target=when_another_waits, args=(leave, threads() + 1)).start()
        x.write().close()
        holder.join()
    """,
    "a queue": """
        kept = [ha.zeros(3)]
        ha.enqueue(sim, kept.clear) # by the collector of a thread that may not call
        sim.finish()
        ha.enqueue(sim, until_the_end)
    """,
    "a tier": """
        values = {}
        def put(key, view):
            values[key] = bytes(view)
            if y is not None:
                begun.set()
                until_the_end()
        def get(key, view): view[:] = values[key]
        begun, y = threading.Event(), None
        tier = ha.Tier(put, get, values.pop)
        x = ha.full(10, 1.0)
        x.retrieve(tier)
        x.read().close()
        y = ha.full(10, 1.0)
        threading.Thread(target=lambda: y.retrieve(tier), daemon=True).start()
        begun.wait()
    """,
    "no memory": """
        try:
            import _testcapi
        except ImportError:
            sys.exit()
        for n in range(60):
            try:
                _testcapi.set_nomemory(n, n + 1)
                ha.open_all((every_call.X, "read"), (every_call.Y, "read"))
            except (MemoryError, SystemError):
                pass
            finally:
                _testcapi.remove_mem_hooks()
    """,
}


def run(folder, program, kept, libraries=None):
    """A program with releases dropped, and where it tells what it reached."""
    sites = folder / "sites"
    environment = {**os.environ, "HARRAY_TEST_KEEP_GIL": kept, "HARRAY_TEST_GIL_SITES": str(sites),
                   "PYTHONPATH": os.path.dirname(__file__), **(libraries or {})}
    if "HARRAY_VERIFY_READS" in program:
        environment["HARRAY_VERIFY_READS"] = "1"
    no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(START) + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=100, check=False, env=environment, preexec_fn=no_core)
    return done, sites


def sites_of(path):
    """What was said of each site: those of all processes together."""
    found = {}
    for line in path.read_text("ascii").splitlines():
        name, *told = line.split()
        found.setdefault(name, set()).update(told)
    return found


@pytest.fixture(name="libraries", scope="module")
def _libraries(tmp_path_factory):
    """One in the place of dpctl's, and one with a kernel."""
    folder = tmp_path_factory.mktemp("libraries")
    sycl, source, kernels = stand_in(folder, "fake_sycl"), folder / "kernels.c", folder / "libkernels.so"
    source.write_text(KERNELS, encoding="ascii")
    subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-I", ha.get_include(), source, ha.get_library(),
                    "-o", kernels], check=True)
    return {"HARRAY_SYCL": f"library={sycl}", "HARRAY_TEST_KERNELS": str(kernels)}


@pytest.fixture(name="checked", scope="module", autouse=True)
def _checked(tmp_path_factory):
    done, sites = run(tmp_path_factory.mktemp("gil"), "", "")
    assert done.returncode == 0, done.stdout + done.stderr
    if not sites.exists():
        pytest.skip("the wheel was built without -Dchecks=true")
    import fake_cupy # pylint: disable=import-outside-toplevel
    if not fake_cupy.IS_THERE:
        pytest.skip("HARRAY_CUDA does not name the repository's fake driver, which is needed to get everywhere")


@pytest.fixture(name="all_sites", scope="module")
def _all_sites(tmp_path_factory, libraries):
    """All programs, with every release dropped until what it is for may wait."""
    folder, told = tmp_path_factory.mktemp("sites"), {}
    for name, program in PROGRAMS.items():
        done, path = run(folder, program, "all", libraries)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        told[name] = sites_of(path)
        path.unlink()
    return told


def has_pocl():
    try:
        ha.kernel("nothing", "(inout, double, x)", "i", "x[i] += 0;")("host", 3, ha.zeros(3))
    except NotImplementedError:
        return False
    return True


def said(all_sites, word):
    return {site for told in all_sites.values() for site, words in told.items() if word in words}


def test_each_site_is_reached(all_sites):
    missing = sorted(set(all_sites["calls"]) - said(all_sites, "reached"))
    assert len(missing) <= (not HAS_TESTCAPI) + (not has_pocl()), missing # for where there is no memory; what PoCL computes comes back


def test_each_release_that_is_dropped_is_found(all_sites):
    missing = sorted(said(all_sites, "reached") - said(all_sites, "found"))
    assert not missing and said(all_sites, "found")


def some(sites):
    return sites if os.environ.get("HARRAY_TEST_LONG") else sites[::len(sites) // 4]


def test_what_is_found_aborts(all_sites, libraries, tmp_path):
    """Each in turn, in a process of its own; usually some of them."""
    for site in some(sorted(said(all_sites, "found"))):
        program = next(PROGRAMS[name] for name, told in all_sites.items() if "found" in told[site])
        done, _ = run(tmp_path, program, site, libraries)
        assert done.returncode == -signal.SIGABRT and f"has the GIL ({site})" in done.stderr, (site, done.returncode, done.stderr)


def test_without_a_drop_none_is_found(libraries, tmp_path):
    for program in PROGRAMS.values():
        done, path = run(tmp_path, program, "", libraries)
        assert done.returncode == 0 and not any("found" in told for told in sites_of(path).values()), done.stderr
