"""harray in Dask's workers: the engine moves the memory of arrays, Dask that of other values.

    import harray.dask
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, data=harray.dask.Store, memory_limit="4GiB")
    client = Client(cluster)
    client.register_plugin(harray.dask.Memory({"cuda:0": "10GiB", "file": "/scratch/me:500GiB"}))
"""
import collections.abc
import ctypes
import sys
import threading

import dask.sizeof
import dask.tokenize
import distributed
import distributed.spill
from distributed.protocol import cuda_deserialize, cuda_serialize, dask_deserialize, dask_serialize

from . import _harray
from ._pickle import restore
from ._scopes import no_transfers


class Memory(distributed.WorkerPlugin):
    """Budgets by context, as harray.set_budget takes them; "file": "DIRECTORY:BYTES" or "DIRECTORY" makes a file the
    next tier of the host. In each worker, once."""
    name = "harray-memory"
    idempotent = True

    def __init__(self, budgets):
        self.budgets = dict(budgets)
        for where in self.budgets:
            if not isinstance(where, str):
                raise TypeError(f"budgets: {where!r} is no name of a context")

    def setup(self, worker):
        """Called by the worker."""
        for where, budget in self.budgets.items():
            if where == "file":
                directory, _, capacity = budget.rpartition(":")
                _behind_host(directory or capacity, capacity if directory else None)
            else:
                _harray.set_budget(where, budget)


def _behind_host(directory, capacity=None):
    _harray.configure_file(directory, capacity)
    _harray.set_tier("host", "file:0")


def _return_memory():
    """What was freed goes back to the system, whose account is the one that Dask looks at."""
    _harray.trim("host", 0)
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:
        pass # another C library


class Store(collections.abc.MutableMapping):
    """A worker's data. Arrays stay what they are, in a dict; other values are in distributed's own buffer, which brings
    them to files as ever. `evict` is what a worker calls that has too little memory."""

    def __init__(self, worker_local_directory=None, capacity=None, others=None):
        self._arrays = {} # by key, what was used longest ago first
        self._lock = threading.RLock()
        if others is None and worker_local_directory is not None:
            others = distributed.spill.SpillBuffer(worker_local_directory, target=sys.maxsize)
        self._others = {} if others is None else others
        if worker_local_directory is not None and _harray.host.pressure["tier"] is None:
            try:
                _behind_host(worker_local_directory, capacity)
            except RuntimeError:
                pass # file:0 is open already, for another store of this process

    def __getitem__(self, key):
        with self._lock:
            if key not in self._arrays:
                return self._others[key]
            array = self._arrays.pop(key)
            self._arrays[key] = array # the youngest
            return array

    def __setitem__(self, key, value):
        with self._lock:
            if key in self: # pop would read it first, from a file if it is there
                del self[key]
            (self._arrays if isinstance(value, _harray.Array) else self._others)[key] = value

    def __delitem__(self, key):
        with self._lock:
            del (self._arrays if key in self._arrays else self._others)[key]

    def __contains__(self, key):
        return key in self._arrays or key in self._others

    def __iter__(self):
        with self._lock:
            return iter([*self._arrays, *self._others])

    def __len__(self):
        return len(self._arrays) + len(self._others)

    # ---- what a worker asks a mapping of which it knows that it can evict

    @property
    def fast(self):
        """Is there anything left that could be evicted?"""
        return [key for key, array in list(self._arrays.items()) if _is_on_host(array)] or getattr(
            self._others, "fast", [])

    def evict(self):
        """Brings the host memory of the array that was used longest ago to the next tier, or another value to a file.
        How many bytes came free; -1 where there is nothing."""
        with self._lock:
            arrays = list(self._arrays.values())
        for array in arrays:
            if _is_on_host(array):
                try:
                    array.defer("host")
                except (BufferError, RuntimeError, MemoryError):
                    continue # somebody has it open, or it is a caller's memory: the next one
                _return_memory()
                return array._storage_nbytes # a view's is that of all it is of
        if getattr(self._others, "fast", None):
            return self._others.evict()
        return -1


def _is_on_host(array):
    return "host" in array.residency


# ---- on the way between workers ------------------------------------------------------------------


@dask_serialize.register(_harray.Array)
def _serialize(array):
    """A header and one frame: the elements, without a copy where there are no gaps. The array is open for reading until the
    frame has gone. Where the host has a budget it is a copy: what is on its way would take the place of what is worked on,
    and could not give way."""
    restored, (data, shape, dtype, name) = array.__reduce_ex__(5)
    assert restored is restore
    frame = memoryview(data)
    if _harray.host.pressure["budget"]:
        frame = memoryview(bytearray(frame.cast("B") if frame.nbytes else b""))
    return {"shape": shape, "dtype": dtype, "name": name}, [frame]


@dask_deserialize.register(_harray.Array)
def _deserialize(header, frames):
    """In memory of its own: what was received stays with others, and could not give way."""
    frame = frames[0] if len(frames) == 1 else b"".join(frames)
    return restore(frame, tuple(header["shape"]), header["dtype"], header["name"])


class _DeviceFrame: # pylint: disable=too-few-public-methods
    """The bytes of an array that is open on a GPU, for those who send a GPU's memory. The access ends with it."""

    def __init__(self, access, nbytes):
        self._access, self.nbytes = access, nbytes
        self.__cuda_array_interface__ = {**access.__cuda_array_interface__, "shape": (nbytes,), "typestr": "|u1",
                                         "strides": None}


class _Received: # pylint: disable=too-few-public-methods
    """The same where it came to: again of the array's type and shape."""

    def __init__(self, header, frame):
        self._frame = frame
        told = {name: value for name, value in frame.__cuda_array_interface__.items() if name in ("data", "stream")}
        self.__cuda_array_interface__ = {**told, "shape": tuple(header["shape"]), "typestr": header["typestr"], "strides": None,
                                         "version": 3} # frames of RMM say 0


def _open_on_gpu(array):
    """For reading, without gaps, on a GPU where all of it is valid; None: there is no such GPU, or nothing to send."""
    gpus = [where for where, state in array.residency.items() if where.startswith("cuda:") and state != "stale"]
    if not array.nbytes or array.dtype == "bfloat16": # for which there is no typestr
        return None
    for where in gpus:
        try:
            with no_transfers():
                return (array if array.order == "C" else _harray.array(array, ctx=where)).read(where)
        except (RuntimeError, MemoryError):
            pass # another one, or the host
    return None


@cuda_serialize.register(_harray.Array)
def _serialize_on_gpu(array):
    """As _serialize, with a frame in the memory of the GPU where the values are. They are there when this returns: those who
    send it know nothing of streams. What is on no GPU is left to the next way of serialising."""
    is_turned = array.order == "F" # without gaps in that order
    access = _open_on_gpu(array.T if is_turned else array)
    if access is None:
        raise NotImplementedError(f"{array!r} is not on a GPU")
    access.context.finish()
    typestr = access.__cuda_array_interface__["typestr"]
    header = {"shape": access.shape, "typestr": typestr, "name": array.name, "turned": is_turned}
    return header, [_DeviceFrame(access, array.nbytes)]


@cuda_deserialize.register(_harray.Array)
def _deserialize_on_gpu(header, frames):
    """In memory of its own on the GPU where it was received, so that it can give way."""
    frame, = frames
    array = _harray.wrap(_Received(header, frame)).copy()
    array.name = header["name"]
    return array.T if header["turned"] else array


@dask.sizeof.sizeof.register(_harray.Array)
def _sizeof(array):
    return array.nbytes


@dask.tokenize.normalize_token.register(_harray.Array)
def _tokenize(array):
    return dask.tokenize.normalize_token(array.numpy())
