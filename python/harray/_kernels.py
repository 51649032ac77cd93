"""Kernels from Python: the text of a loop's body in C, for the compilers of devices; and those that libraries in C export."""
import operator
import os

from . import _harray

_MODES = ("value", "constant", "in", "inout", "out")
_PARAMETER = r"\(\s*(\w+)\s*,\s*(\w+)\s*,\s*([A-Za-z_]\w*)\s*\)"
_ARRAY = r"array_(\w+)_([1-8])"
# Types of C, by the names that they have in kernels, and what they are for Python.
_TYPES = {"float": "float32", "double": "float64", "int": "int32", "half": "float16", "bfloat16": "bfloat16",
          "c64": "complex64", "c128": "complex128", "bool": "bool",
          **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}
_STRUCTS = ("half", "bfloat16", "c64", "c128") # of C, there with ha_ in front, which names of arrays do without


def _row(kernel, mode, kind, name):
    import re # pylint: disable=import-outside-toplevel # takes longer than the package without it
    view = re.fullmatch(_ARRAY, kind)
    element = view[1] if view else kind
    if mode not in _MODES:
        raise ValueError(f"{kernel}: ({mode}, {kind}, {name}): a mode is one of {', '.join(_MODES)}")
    if element not in _TYPES or (view and mode in ("value", "constant")):
        raise ValueError(f"{kernel}: ({mode}, {kind}, {name}): a type is one of {', '.join(_TYPES)}, or array_T_D of in, "
                         "inout and out")
    text = "ha_" + kind if mode == "value" and kind in _STRUCTS else kind
    return _MODES.index(mode), int(view[2]) if view else 0, _TYPES[element], text, name


def _rows(kernel, parameters):
    import re # pylint: disable=import-outside-toplevel
    rows = [_row(kernel, *match.groups()) for match in re.finditer(_PARAMETER, parameters)]
    if re.sub(_PARAMETER, "", parameters).strip(" ,\n\t"):
        raise ValueError(f"{kernel}: parameters are (mode, type, name), (mode, type, name), ..., not {parameters!r}")
    if not any(mode for mode, *_ in rows) or len(rows) > 11:
        raise ValueError(f"{kernel}: {len(rows)} parameters: one to eleven, of which one is an array")
    return tuple(rows)


_kernels = {}


def _made(*text):
    """A kernel stays for ever, so there is one of each text."""
    if text not in _kernels:
        _kernels[text] = _harray._kernel(*text)
    return _kernels[text]


class Kernel:
    """A loop's body that devices run: kernel(ctx, lanes, *arguments). `lanes`: a number or a tuple of them, of which each
    may be a pair (first, last)."""

    def __init__(self, name, parameters, index, body, uses=None):
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"{name!r} is no name of C")
        indices = [part.strip() for part in index.strip().strip("()").split(",")]
        if not 1 <= len(indices) <= 3 or not all(part.isidentifier() for part in indices):
            raise ValueError(f"{name}: index {index!r}: \"i\", \"(j, i)\" or \"(k, j, i)\"")
        self.name, self._rank = name, len(indices)
        text = "(" + ", ".join(indices) + ")" if len(indices) > 1 else indices[0]
        self._kernel = _made(name, self._rank, text, "{" + body + "}", uses, _rows(name, parameters))

    def __call__(self, ctx, lanes, *arguments):
        lanes = lanes if isinstance(lanes, (tuple, list)) else (lanes,)
        if len(lanes) != self._rank:
            raise TypeError(f"{self.name}: lanes of {self._rank} dimensions, not {len(lanes)}")
        box = [pair if isinstance(pair, (tuple, list)) else (0, pair) for pair in lanes]
        low, high = zip(*((operator.index(first), operator.index(last)) for first, last in box))
        _harray._launch(self._kernel, ctx, low, high, arguments)

    def log(self, ctx):
        """All that the compiler of a device said when it refused the kernel."""
        return _harray._kernel_log(self._kernel, ctx)

    def __repr__(self):
        return f"<harray.Kernel {self.name}>"


def kernel(name, parameters, index, body, *, uses=None):
    """kernel("axpy", "(value, double, a), (in, double, x), (inout, double, y)", "i", "y[i] += a * x[i];"): as HA_KERNEL
    of C. `uses`: functions (HA_FN) in front of it."""
    return Kernel(name, parameters, index, body, uses)


class Library:
    """Library("./libsolver.so").relax(ctx, lanes, *arguments): a shared library in C, linked with get_library(), whose kernels
    (HA_KERNEL_EXPORT) are attributes: Kernel objects that run everywhere, on the host by the loops that its compiler made."""

    def __init__(self, path):
        import ctypes # pylint: disable=import-outside-toplevel # as re above
        self._path = os.fspath(path)
        self._library = ctypes.CDLL(self._path) # stays, as its kernels do

    def __getattr__(self, name):
        import ctypes # pylint: disable=import-outside-toplevel
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            place = ctypes.addressof(ctypes.c_char.in_dll(self._library, "ha_exported_" + name))
        except ValueError:
            raise AttributeError(f"{self._path} exports no kernel {name!r}: HA_KERNEL_EXPORT({name}) does") from None
        try:
            found = object.__new__(Kernel)
            found._kernel, found.name, found._rank = _harray._exported(place)
        except ImportError as error:
            raise ImportError(f"{self._path}: {error}", path=self._path) from None
        setattr(self, name, found)
        return found

    def __repr__(self):
        return f"<harray.Library {self._path!r}>"
