"""PyTorch itself, on the host: tensors of arrays, and arrays of tensors."""
import gc
import threading
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import harray as ha # pylint: disable=wrong-import-position

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]
VIEWS = [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[1], lambda a: a[:, 2:2], lambda a: a[None]]


@pytest.fixture(name="x")
def field():
    return ha.array(np.arange(6.0).reshape(2, 3), name="x")


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_see_what_is_written(dtype, view):
    tensor = view(torch.arange(6).reshape(2, 3).to(getattr(torch, dtype)))
    x = ha.from_dlpack(tensor)
    assert x.dtype == dtype and x.shape == tensor.shape and x.tolist() == tensor.tolist()
    assert x.strides == tuple(step * tensor.element_size() for step in tensor.stride())
    with x.write() as v:
        back = torch.from_dlpack(v)
        assert back.dtype == tensor.dtype and back.data_ptr() == (tensor.data_ptr() if tensor.numel() else 0)
        back[...] = 1
        del back
    assert x.tolist() == tensor.tolist() and bool((tensor == 1).all())
    tensor[...] = 0
    assert x.tolist() == tensor.tolist()


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
def test_tensors_of_views(x, view):
    for take in (torch.from_dlpack, torch.as_tensor):
        tensor = take(view(x))
        assert tensor.tolist() == view(x).tolist() and tensor.shape == view(x).shape


def test_names_of_types():
    for dtype in DTYPES:
        assert ha.zeros(3, getattr(torch, dtype)).dtype == dtype
    with pytest.raises(TypeError, match="float8_e4m3fn"):
        ha.zeros(3, torch.float8_e4m3fn)


def test_a_tensor_keeps_the_access(x):
    tensor = torch.from_dlpack(x)
    with pytest.raises(BufferError, match="'x'.*DLPack"):
        x.write()
    part = tensor[1:]
    del tensor
    with pytest.raises(BufferError, match="'x'.*DLPack"):
        x.write()
    del x
    gc.collect()
    assert part.tolist() == [[3, 4, 5]]
    del part
    assert not ha.exports()


def test_copies_are_in_nobodys_way(x):
    copy, only = torch.from_dlpack(x, copy=True), torch.tensor(x)
    with x.write() as v:
        torch.from_dlpack(v)[0, 0] = 9
    assert copy[0, 0] == only[0, 0] == 0 and x[0, 0] == 9


def test_a_tensor_lives_as_long_as_its_array():
    tensor = torch.arange(4.0)
    address, gone = tensor.data_ptr(), weakref.ref(tensor)
    x = ha.wrap(tensor, name="wrapped")
    y = x[1:]
    del tensor, x
    gc.collect()
    y[0] = 7
    assert torch.from_dlpack(y).data_ptr() == address + 4 and y.tolist() == [7, 2, 3]
    del y
    gc.collect()
    assert gone() is None


def test_a_copy_may_be_had_of_what_is_wrapped():
    tensor = torch.arange(3.0)
    x, y = ha.wrap(tensor), ha.zeros((2, 3))
    y[1] = tensor
    for z in (ha.array(tensor), ha.from_dlpack(tensor, copy=True), ha.from_dlpack(tensor, device="sim:0"), y[1]):
        assert z.tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="owns some"):
        ha.wrap(tensor)
    assert x.tolist() == [0, 1, 2]


def test_values_come_back_to_a_tensor():
    tensor = torch.arange(3.0)
    x = ha.wrap(tensor)
    ha.ops.add(x, 2.0, x, on="sim:0")
    assert tensor.tolist() == [0, 1, 2]
    x.sync()
    assert tensor.tolist() == [2, 3, 4]
    ha.ops.add(x, 2.0, x, on="sim:0")
    del x
    assert tensor.tolist() == [4, 5, 6]


def test_given_back_on_another_thread(x):
    tensors = [torch.from_dlpack(x)]
    thread = threading.Thread(target=tensors.clear)
    thread.start()
    thread.join()
    x.write().close()


def test_values_are_assigned(x):
    x[...] = torch.full((2, 3), 7, dtype=torch.int32)
    x[0] = torch.arange(3.0)
    assert x.tolist() == [[0, 1, 2], [7, 7, 7]]
    assert ha.array(torch.ones(2, dtype=torch.bfloat16), dtype=torch.float32).tolist() == [1, 1]


@pytest.mark.parametrize("make, error, words", [
    (lambda: torch.ones(2, requires_grad=True), BufferError, "detach"), (lambda: torch.ones(2, dtype=torch.complex64).conj(), BufferError, "conj"),
    (lambda: torch.ones(2).to_sparse(), BufferError, "strided"), (lambda: torch.ones(2).to(torch.float8_e5m2), NotImplementedError, "8 bits"),
    (lambda: torch.ones((1,) * 9), NotImplementedError, "9 dimensions")], ids=range(5))
def test_what_cannot_be_taken(make, error, words):
    for take in (ha.wrap, ha.from_dlpack, ha.array):
        with pytest.raises(error, match=words):
            take(make())


def test_what_pytorch_does_not_have(x):
    with pytest.raises(RuntimeError): # strides below zero
        torch.from_dlpack(x.flip(0))
    x.write().close() # all the same it has given it back
    with x.read("sim:0") as v, pytest.raises(NotImplementedError, match="sim:0"):
        torch.from_dlpack(v)
