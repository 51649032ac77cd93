"""Blocks: several arrays at once, and what may not happen in them; reports."""
from . import _harray


class _Opened:
    """Accesses that were opened together, and are closed together."""

    def __init__(self, accesses):
        self._accesses = accesses

    def __enter__(self):
        return self._accesses

    def __exit__(self, kind, value, trace):
        self._close(kind, value, trace)

    def close(self):
        """Closes all of them."""
        self._close(None, None, None)

    def _close(self, kind, value, trace):
        first = None
        for access in self._accesses:
            try:
                access.__exit__(kind, value, trace)
            except (BufferError, RuntimeError) as error:
                first = first or error
        if first is not None:
            raise first


def open_all(*pairs, on=None, wait=True):
    """with open_all((x, "write"), (y, "read"), on=gpu) as (v, w): all or none, without deadlock."""
    return _Opened(_harray._open_many(pairs, on, wait))


class no_transfers: # pylint: disable=invalid-name
    """In this block, on this thread, what would have to be copied between memories is a RuntimeError."""

    def __enter__(self):
        _harray._no_transfers(True)

    def __exit__(self, *_):
        _harray._no_transfers(False)


class on: # pylint: disable=invalid-name
    """with on(gpu): in this block, on this thread, no context means this one."""

    def __init__(self, ctx):
        self._context, self._outer = ctx, None

    def __enter__(self):
        self._outer = _harray._set_current(self._context)

    def __exit__(self, *_):
        _harray._set_current(self._outer)


def _number(queue):
    """Of a stream of CuPy's or PyTorch's, of what tells its own (version, number), or a number."""
    if hasattr(queue, "__cuda_stream__"):
        return queue.__cuda_stream__()[1]
    return getattr(queue, "ptr", getattr(queue, "cuda_stream", queue))


class stream: # pylint: disable=invalid-name
    """with stream(gpu, theirs) as ctx: another package's stream, which in this block, on this thread, no context means. At
    the end it is waited for, and the other package's alone again. stream(queue): a queue of dpctl's, of any device."""

    def __init__(self, ctx, theirs=None):
        self._theirs = ctx if theirs is None else theirs # its reference has to be there until the end
        self._context = _harray.adopt(ctx) if theirs is None else _harray.adopt(ctx, _number(theirs))
        self._block = on(self._context)

    def __enter__(self):
        self._block.__enter__()
        return self._context

    def __exit__(self, *_):
        self._block.__exit__()
        self._context.unfork()


def devices():
    """The contexts of all devices that there are."""
    found = [_harray.host]
    for kind in ("cuda", "opencl", "sycl", "sim", "file"):
        for number in range(_harray._count_devices(kind)):
            try:
                found.append(_harray.context(f"{kind}:{number}"))
            except (LookupError, RuntimeError, MemoryError):
                pass # it cannot be opened: harray.context says why
    return found


def report(file=None):
    """What was moved, by memory, place and array, as a dict; written to a file if one is given."""
    import json # pylint: disable=import-outside-toplevel # takes longer than the package without it
    told = json.loads(_harray._report())
    if file is not None:
        json.dump(told, file, indent=1)
    return told


class trace: # pylint: disable=invalid-name
    """with trace("file.json"): what happens is written there, for ui.perfetto.dev. Or .stop() ends it."""

    def __init__(self, path):
        _harray._trace(path)

    def stop(self):
        """Ends the file."""
        _harray._trace(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
