#!/usr/bin/env python3
"""Figures of the Python package: each against what one would use instead, in turns in one process. One JSON line a figure,
with the keys of bench/README.md.

usage: figures.py [--pairs N] [--only TEXT] [--smoke] [--mib N] [--buffered] [--directory DIR] [--wheel FILE]

Of an installed package that was optimised. NumPy is needed; a C compiler for the figure against C, distributed for that of
its own spilling, and dpctl with a device for those beside it are taken where there are some.
"""
import argparse
import array
import ctypes
import gc
import importlib.util
import json
import mmap
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import harray as ha

C_ROUND = r"""
#include <harray.h>
#include <time.h>
/* Written on one context and read on another, so often; the nanoseconds that took, or a status below 0. */
double go(ha_array *x, ha_context *there, long count) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < count; i++) {
        ha_access v = {0};
        ha_status s = ha_open(&v, x, there, HA_WRITE, 0, HA_END);
        if (!s) s = ha_close(&v);
        if (!s) s = ha_open(&v, x, ha_host(), HA_READ, 0, HA_END);
        if (!s) s = ha_wait(&v);
        if (!s) s = ha_close(&v);
        if (s) return -(double)s;
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec);
}
double round_trip(long count) {
    darray x = darray_new(HA_DTYPE_double, 1, &(int64_t){1}, ha_host());
    ha_context *there = ha_context_find("sim:0");
    ha_access v;
    double ns = -1;
    if (x.array && there && !ha_open(&v, x.array, ha_host(), HA_OVERWRITE, 0, HA_END) && !ha_close(&v)) ns = go(x.array, there, count);
    if (x.array) (void)!darray_free(&x);
    return ns;
}
"""


def timed(statement, names, clock=time.thread_time_ns):
    """A function of a count: nanoseconds for as many repetitions of the statement, for which this thread had a processor."""
    scope = {**names, "clock": clock}
    body = "".join(f"\n        {line}" for line in statement.splitlines())
    exec(f"def go(count):\n    start = clock()\n    for _ in range(count):{body}\n    return clock() - start", scope) # pylint: disable=exec-used
    return scope["go"]


class Figures:
    """Prints one line a figure."""

    def __init__(self, options):
        self.options = options

    def wanted(self, name):
        return self.options.only in name

    def run(self, name, ours, reference_name, reference, *, bound=None, bound_ns=None, least_ns=5e6, bytes_=None, pairs=None):
        """Both are functions of a count, which give nanoseconds."""
        if not self.wanted(name):
            return
        pairs = 2 if self.options.smoke else pairs or self.options.pairs
        gc.collect()
        gc.disable()
        counts = [self.count_of(function, least_ns) for function in (ours, reference)]
        times = [(ours(counts[0]) / counts[0], reference(counts[1]) / counts[1]) for _ in range(pairs)]
        gc.enable()
        told = {"figure": name, "variant": f"python {sys.version_info[0]}.{sys.version_info[1]}"}
        told |= {"ns": statistics.median(t[0] for t in times), "ns_min": min(t[0] for t in times)}
        told |= {"reference": reference_name, "reference_ns": statistics.median(t[1] for t in times), "reference_ns_min": min(t[1] for t in times)}
        ratios = sorted(a / b for a, b in times)
        told |= {"ratio": statistics.median(ratios), "ratio_min": ratios[0], "ratio_max": ratios[-1], "pairs": pairs}
        told |= {"bound": bound} if bound else {}
        told |= {"bound_ns": bound_ns} if bound_ns else {}
        told |= {"bytes": bytes_, "gb_per_s": bytes_ / told["ns"]} if bytes_ else {}
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in told.items()}), flush=True)

    def count_of(self, function, least_ns):
        function(1)
        count = 1
        while not self.options.smoke and function(count) < least_ns:
            count *= 2
        return count


# ---- opening and exporting


def accesses(figures):
    x, bytes_, values = ha.zeros(1000, name="x"), bytearray(8000), np.zeros(1000)
    names = {"x": x, "b": bytes_, "a": values, "np": np, "doubles": array.array("d", bytes(8000)), "view": memoryview}
    buffer = timed("view(b).release()", names)
    figures.run("with x.read(): pass", timed("with x.read():\n    pass", names), "memoryview(bytearray), released", buffer, bound_ns=800)
    figures.run("memoryview(x), released", timed("view(x).release()", names), "memoryview(bytearray), released", buffer, bound_ns=800)
    figures.run("np.asarray(x)", timed("np.asarray(x)", names), "np.asarray(array.array)", timed("np.asarray(doubles)", names), bound_ns=1200)
    figures.run("np.from_dlpack(x.read())", timed("np.from_dlpack(x.read())", names), "np.from_dlpack(ndarray)",
                timed("np.from_dlpack(a)", names), bound_ns=2000)
    beside_dpctl(figures, names)


def shared_memory():
    """8000 bytes of dpctl's that host and device share; None without dpctl, or a device that has such memory."""
    try:
        import dpctl.memory # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    queues = [dpctl.SyclQueue(device) for device in dpctl.get_devices() if device.has_aspect_usm_shared_allocations]
    return dpctl.memory.MemoryUSMShared(8000, queue=queues[0]) if queues else None


def beside_dpctl(figures, names):
    """What of dpctl's is nearest: memory of which nobody keeps where its values are."""
    if (m := shared_memory()) is None:
        return
    names = {**names, "m": m}
    buffer, array_ = timed("view(m).release()", names), timed("np.asarray(m)", names)
    figures.run("with x.read(): pass", timed("with x.read():\n    pass", names), "memoryview(dpctl's shared), released", buffer)
    figures.run("memoryview(x), released", timed("view(x).release()", names), "memoryview(dpctl's shared), released", buffer)
    figures.run("np.asarray(x)", timed("np.asarray(x)", names), "np.asarray(dpctl's shared)", array_)


def compiled(directory):
    """The same round trip in C, of the package's own library; None without a compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    source, made = pathlib.Path(directory, "round.c"), pathlib.Path(directory, "round.so")
    source.write_text(C_ROUND, encoding="utf-8")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-I", ha.get_include(), "-o", str(made), str(source), ha.get_library(),
                    "-Wl,-rpath," + os.path.dirname(ha.get_library())], check=True)
    function = ctypes.CDLL(str(made)).round_trip
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_long]
    return function


def round_trips(figures, directory):
    x, sim = ha.zeros(1, name="x"), ha.context("sim:0")
    ours = timed("with x.write(sim):\n    pass\nwith x.read():\n    pass", {"x": x, "sim": sim}, time.perf_counter_ns)
    in_c = figures.wanted("write on sim, read on the host") and compiled(directory)
    if in_c:
        figures.run("write on sim, read on the host, 8 B", ours, "the same in C", in_c, bound=1.3)


def callbacks(figures):
    """Made and freed, with a controller that hears of it, and without one; it is called once each time."""
    class Watch(ha.Controller):
        """Hears, and does nothing."""
        def freed(self, array):
            pass

    watch, make = Watch(), timed("zeros(1)", {"zeros": ha.zeros})

    def heard(count):
        ha.set_controller(watch)
        ns = make(count)
        ha.set_controller(None)
        return ns
    figures.run("an array made and freed, told to a controller", heard, "without a controller", make)


# ---- spilling


def spilling(figures, directory):
    """Chunks that are written once and read once, of which a quarter has room."""
    mib = 16 if figures.options.smoke else figures.options.mib
    chunks, size = max(4, mib // 8), 8 << 20
    values = np.arange(size // 8, dtype="f8")
    cached = figures.options.buffered
    ha.configure_file(directory, 4 * chunks * size, buffered=cached)
    ha.set_tier("host", "file:0")

    def ours(_):
        ha.set_budget("host", chunks * size // 4)
        start, kept = time.perf_counter_ns(), []
        for i in range(chunks):
            x = ha.empty(values.shape, "f8")
            with x.overwrite() as v:
                np.copyto(np.asarray(v), values)
            kept.append(x)
        for x in kept:
            assert np.asarray(x)[-1] == values[-1]
        ns = time.perf_counter_ns() - start
        kept.clear()
        ha.set_budget("host", 0)
        return ns

    def raw(_):
        """As much as does not fit, to a file and back, in the same way."""
        file = os.open(directory, os.O_RDWR | os.O_TMPFILE | (0 if cached else os.O_DIRECT))
        os.posix_fallocate(file, 0, chunks * size)
        data = mmap.mmap(-1, size) # is aligned
        start = time.perf_counter_ns()
        for i in range(chunks * 3 // 4):
            np.copyto(np.frombuffer(data), values)
            os.pwrite(file, data, i * size)
        for i in range(chunks * 3 // 4):
            os.preadv(file, [data], i * size)
        ns = time.perf_counter_ns() - start
        os.close(file)
        return ns

    pairs = min(5, figures.options.pairs)
    moved = 2 * (chunks * 3 // 4) * size
    way = "through the system's cache" if cached else "past the system's cache"
    figures.run(f"{chunks * 8} MiB of chunks through {chunks * 2} MiB, {way}", ours, "pwrite + pread, too", raw, bound=1.11, least_ns=0, bytes_=moved, pairs=pairs)
    try:
        from distributed.spill import SpillBuffer # pylint: disable=import-outside-toplevel
    except ImportError:
        return

    def distributeds(_):
        buffer = SpillBuffer(os.path.join(directory, "spill"), target=chunks * size // 4)
        start = time.perf_counter_ns()
        for i in range(chunks):
            buffer[str(i)] = values.copy()
        for i in range(chunks):
            assert buffer[str(i)][-1] == values[-1]
        ns = time.perf_counter_ns() - start
        buffer.clear()
        shutil.rmtree(os.path.join(directory, "spill"), ignore_errors=True)
        return ns
    figures.run(f"{chunks * 8} MiB of chunks through {chunks * 2} MiB", ours, "distributed's SpillBuffer", distributeds, bound=0.667, least_ns=0,
                bytes_=moved, pairs=pairs)


# ---- the package


def imports(figures):
    def processor_time():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1e9 * (used.ru_utime + used.ru_stime)

    def interpreter(program):
        def go(count):
            start = processor_time()
            for _ in range(count):
                subprocess.run([sys.executable, "-P", "-c", program], check=True)
            return processor_time() - start
        return go
    empty = interpreter("pass")
    figures.run("an interpreter that imports harray", interpreter("import harray"), "one that does not", empty, least_ns=0)
    if importlib.util.find_spec("dpctl"):
        figures.run("an interpreter that imports harray", interpreter("import harray"), "one that imports dpctl", interpreter("import dpctl"), least_ns=0)
    figures.run("an interpreter that imports numpy", interpreter("import numpy"), "one that does not", empty, least_ns=0)


def wheel(figures):
    file = figures.options.wheel
    if file and figures.wanted("wheel"):
        print(json.dumps({"figure": "the wheel", "bytes": os.path.getsize(file), "bound_bytes": 1_500_000}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="", help="figures whose name contains this")
    parser.add_argument("--smoke", action="store_true", help="shows that all of it runs")
    parser.add_argument("--buffered", action="store_true", help="what is spilled goes through the system's cache")
    parser.add_argument("--mib", type=int, default=1024, help="of chunks that are spilled; a quarter has room")
    parser.add_argument("--directory", help="where files are; default: a temporary one")
    parser.add_argument("--wheel", help="whose size is told")
    figures = Figures(parser.parse_args())
    with tempfile.TemporaryDirectory(dir=figures.options.directory) as directory:
        accesses(figures)
        round_trips(figures, directory)
        callbacks(figures)
        imports(figures)
        wheel(figures)
        spilling(figures, directory)


if __name__ == "__main__":
    main()
