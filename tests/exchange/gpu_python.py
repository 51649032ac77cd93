#!/usr/bin/env python3
"""Arrays of harray on a GPU with CuPy, PyTorch and Numba: open accesses, whose pointers they use on the
context's stream; DLPack and __cuda_array_interface__, both ways.

usage: gpu_python.py LIBRARY     the shared library of harray, as Meson builds it: libharray.so

Prints TAP. The exit status is 77 when there is no GPU, or none of the packages.
"""
import ctypes
import gc
import importlib
import sys

from exchange import Exporter, Library, Opened, OVERWRITE, READ, WRITE

N = 1 << 20 # large enough that what is not waited for is not done
STRIDE = 1000 # of the elements that the host changes


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def values_of(access):
    return (ctypes.c_double * N).from_address(access.data)


class Subject:
    """An array, and what it has to be: one number everywhere, and another at every STRIDE-th place."""

    def __init__(self, library, gpu, array=None):
        self.library, self.gpu = library, gpu
        self.array = array or library.zeros("double", (N,), gpu)
        self.everywhere = self.sometimes = 0.0

    def add_on_host(self, amount):
        with Opened(self.library, self.array, WRITE) as opened:
            values = values_of(opened.access)
            for i in range(0, N, STRIDE):
                values[i] += amount
        self.sometimes += amount

    def problem(self):
        with Opened(self.library, self.array, READ) as opened:
            values = values_of(opened.access)
            rest = [values[i] for i in range(N) if i % STRIDE]
            first = values[::STRIDE]
        if set(rest) != {self.everywhere} or set(first) != {self.everywhere + self.sometimes}:
            return f"the values are wrong: {set(rest)}, {set(first)}, not {self.everywhere}, " \
                   f"{self.everywhere + self.sometimes}"
        return ""

    def free(self):
        self.library.free(self.array)


# ---- a package adds `amount` to each element of an open access, on its stream ---------------------


def access_cupy(cupy, opened, stream, amount):
    memory = cupy.cuda.UnownedMemory(opened.access.data, N * 8, opened)
    array = cupy.ndarray((N,), cupy.float64, cupy.cuda.MemoryPointer(memory, 0))
    with cupy.cuda.ExternalStream(stream):
        array += amount


def access_torch(torch, opened, stream, amount):
    with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
        tensor = torch.as_tensor(opened.cuda_interface(), device="cuda")
        if tensor.data_ptr() != opened.access.data:
            raise RuntimeError("PyTorch has made a copy")
        tensor.add_(amount)


def access_numba(_, opened, stream, amount):
    cuda = importlib.import_module("numba.cuda")

    @cuda.jit
    def add(array, amount):
        i = cuda.grid(1) # pylint: disable=no-value-for-parameter
        if i < array.size:
            array[i] += amount

    array = cuda.as_cuda_array(opened.cuda_interface())
    add[(N + 255) // 256, 256, cuda.external_stream(stream)](array, amount)


def accesses(library, gpu, package, add):
    """Host, package on the GPU, host, and again."""
    x = Subject(library, gpu)
    for turn in range(1, 4):
        x.add_on_host(turn)
        with Opened(library, x.array, WRITE, gpu) as opened:
            add(package, opened, library.stream(gpu), 10.0 * turn)
        x.everywhere += 10.0 * turn
    problem = x.problem()
    x.free()
    return problem


# ---- DLPack: the package has the array on its own stream ------------------------------------------


def handed_out(library, gpu, package):
    """On its default stream: nobody waits for it but harray."""
    x = Subject(library, gpu)
    for turn in range(1, 4):
        x.add_on_host(turn)
        tensor = package.from_dlpack(Exporter(library, x.array, WRITE, gpu))
        for _ in range(10):
            tensor += turn
        del tensor
        gc.collect()
        x.everywhere += 10.0 * turn
    problem = x.problem()
    x.free()
    return problem


def side_stream(name, package):
    """A stream of the package's, to be entered; and how to wait for it."""
    stream = package.cuda.Stream() if name == "torch" else package.cuda.Stream(non_blocking=True)
    return package.cuda.stream(stream) if name == "torch" else stream, stream.synchronize


def handed_out_elsewhere(library, gpu, name, package):
    """On another stream of the package's."""
    x = Subject(library, gpu)
    entered, wait = side_stream(name, package)
    x.add_on_host(1)
    with entered:
        tensor = package.from_dlpack(Exporter(library, x.array, WRITE, gpu))
        tensor += 5
        wait()
        del tensor
    gc.collect()
    x.everywhere += 5
    problem = x.problem()
    x.free()
    return problem


def handed_in(library, gpu, package):
    """What the package has enqueued comes first, and its memory has the values when harray has done."""
    tensor = package.zeros(N, dtype=package.float64, **on_gpu(package))
    for _ in range(10):
        tensor += 1
    array = library.take(tensor, gpu, stream=library.stream(gpu))
    x = Subject(library, gpu, array)
    x.everywhere = 10.0
    x.add_on_host(2)
    problem = x.problem()
    x.free()
    if not problem and (tensor[0] != 12 or tensor[1] != 10):
        problem = f"the package sees {tensor[0]}, {tensor[1]}"
    return problem


def on_gpu(package):
    return {"device": "cuda"} if package.__name__ == "torch" else {}


def interface_in(library, gpu, package):
    tensor = package.zeros(N, dtype=package.float64, **on_gpu(package))
    tensor += 3
    if package.__name__ == "torch": # it names no stream
        package.cuda.synchronize()
    x = Subject(library, gpu, library.take_cuda_interface(tensor, gpu))
    x.everywhere = 3.0
    problem = x.problem()
    x.free()
    return problem


def interface_out(library, gpu, package):
    x = Subject(library, gpu)
    with Opened(library, x.array, OVERWRITE, gpu) as opened:
        library.check(library.finish(gpu)) # PyTorch looks at no stream
        if package.__name__ == "torch":
            package.as_tensor(opened.cuda_interface(), device="cuda").fill_(4.0)
            package.cuda.synchronize()
        else:
            package.asarray(opened.cuda_interface()).fill(4.0)
            package.cuda.Device().synchronize()
    x.everywhere = 4.0
    problem = x.problem()
    x.free()
    return problem


# ---- running --------------------------------------------------------------------------------------


def checks(library, gpu, packages):
    """(name, the package's name, what to call)"""
    def check(name, title, function, *arguments):
        return f"{name}: {title}", name, lambda: function(library, gpu, *arguments)

    for name, add in (("cupy", access_cupy), ("torch", access_torch), ("numba", access_numba)):
        yield check(name, "accesses", accesses, packages[name], add)
    for name in ("cupy", "torch"):
        package = packages[name]
        yield check(name, "handed out by DLPack", handed_out, package)
        yield check(name, "on a stream of its own", handed_out_elsewhere, name, package)
        yield check(name, "handed in by DLPack", handed_in, package)
        yield check(name, "handed out by __cuda_array_interface__", interface_out, package)
        yield check(name, "handed in by __cuda_array_interface__", interface_in, package)


def problem_of(function):
    try:
        return function()
    except Exception as error: # pylint: disable=broad-exception-caught
        return f"{type(error).__name__}: {error}".replace("\n", " ")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = Library(sys.argv[1])
    gpu = library.find(b"cuda:0")
    if not gpu:
        print("1..0 # SKIP no CUDA device")
        return 77
    packages = {name: load(name) for name in ("cupy", "torch", "numba")}
    failed = ran = number = 0
    for number, (title, name, function) in enumerate(checks(library, gpu, packages), 1):
        if packages[name] is None:
            print(f"ok {number} - {title} # SKIP not there")
            continue
        ran += 1
        problem = problem_of(function)
        failed += problem != ""
        print(f"{'not ok' if problem else 'ok'} {number} - {title} {problem}".rstrip(), flush=True)
    print(f"1..{number}")
    return 1 if failed else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
