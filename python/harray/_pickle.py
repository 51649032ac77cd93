"""Pickling: of arrays values, shape, type, and name, not where the values were; of a Memory bytes, kind, and context."""
import pickle

from . import _harray


def reduce(array, protocol):
    """Of a view what it shows. Protocol 5 has the elements out of band, without a copy, where there are no gaps."""
    values = _harray.array(array) if array.order != "C" or array.dtype == "bfloat16" else array
    if array.dtype == "bfloat16": # which the buffer protocol does not have
        values = values.astype("float32")
    view = memoryview(values)
    data = pickle.PickleBuffer(view) if protocol >= 5 else view.tobytes()
    return restore, (data, array.shape, array.dtype, array.name)


def restore(data, shape, dtype, name):
    """A new array of what reduce gave."""
    kept = "float32" if dtype == "bfloat16" else dtype
    array = _harray.empty(shape, kept)
    with array.overwrite() as access, memoryview(access) as target, memoryview(data) as source:
        if source.nbytes != target.nbytes:
            raise ValueError(f"pickle: {source.nbytes} bytes for an array of {target.nbytes}")
        if source.nbytes:
            target.cast("B")[:] = source.cast("B")
    if kept != dtype:
        array = array.astype(dtype)
    array.name = name
    return array


def reduce_memory(memory):
    """Its bytes, kind, and the name of its context."""
    return restore_memory, (bytes(memory.copy_to_host()), memory.kind, memory.context.name)


def restore_memory(data, kind, context):
    """A new Memory of what reduce_memory gave."""
    memory = _harray.Memory(len(data), kind, context)
    memory.copy_from_host(data)
    return memory
