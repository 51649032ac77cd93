"""Arrays that are coherent on the host and on devices. docs/python.md is the manual."""
import os as _os

from . import _harray
from ._harray import (KEEP, Access, Array, Context, DeviceError, Memory, Tier, __version__, adopt, array, best, by_id,
                      configure_file, context, empty, enqueue, equal, exports, from_dlpack, full, host, load, make_room,
                      pointer_kind, save, set_budget, set_tier, set_verbose, set_watermark, trim, wrap, zeros)
from ._controller import ArrayInfo, Candidate, Controller, set_controller
from ._kernels import Kernel, Library, kernel
from ._scopes import devices, no_transfers, on, open_all, report, stream, trace
from . import ops

_harray._set_package(_os.path.dirname(_os.path.abspath(__file__)))


def get_include() -> str:
    """The folder with the headers of the library that this package uses."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def get_library() -> str:
    """The library itself, for extensions in C that share arrays with this package."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "lib", "libharray.so")


__all__ = ["KEEP", "Access", "Array", "ArrayInfo", "Candidate", "Context", "Controller", "DeviceError", "Kernel",
           "Library", "Memory", "Tier", "adopt", "array", "best", "by_id", "configure_file", "context", "devices", "empty",
           "enqueue", "equal", "exports", "from_dlpack", "full", "get_include", "get_library", "host", "kernel",
           "load", "make_room", "no_transfers", "on", "open_all", "ops", "pointer_kind", "report", "save",
           "set_budget", "set_controller", "set_tier", "set_verbose", "set_watermark", "stream", "trace", "trim", "wrap", "zeros"]
