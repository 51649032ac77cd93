"""A program's own say in what happens when a memory is full."""
import collections
import time

from . import _harray


class ArrayInfo(collections.namedtuple("ArrayInfo", "id name nbytes")):
    """An array that something has happened to: it may have gone already. harray.by_id finds it."""
    __slots__ = ()


class Candidate(collections.namedtuple("Candidate", "id name nbytes priority is_done restored_at")):
    """An array that may give way. restored_at: time.monotonic() when it last came back; 0.0: never."""
    __slots__ = ()


class Controller:
    """What is not overridden decides nothing. All methods run on the thread that needs the memory, and may
    open, free, defer and retrieve other arrays. What they raise goes to sys.unraisablehook and counts as "no"."""

    def pressure(self, where, need, attempt):
        """`need` bytes are missing at a context. True: something was freed, try again."""

    def choose(self, where, candidates, need):
        """The one that gives way first; None: as usual."""

    def allocated(self, array):
        """An array was made."""

    def freed(self, array):
        """An array was freed."""

    def deferred(self, array, source, target):
        """An array's memory at `source` has given way; its values are at `target` or elsewhere."""

    def retrieved(self, array, target):
        """An array gets back what had given way."""


class _Adapter:
    """What the extension calls, with numbers; makes of them what a Controller gets."""
    hears = True

    def __init__(self, controller):
        self.controller = controller
        self.restored = {}

    def pressure(self, where, need, attempt):
        return bool(self.controller.pressure(where, need, attempt))

    def choose(self, where, candidates, need):
        named = [Candidate(i, name, size, priority, bool(done), self.restored.get(i, 0.0))
                 for i, name, size, priority, done in candidates]
        chosen = self.controller.choose(where, named, need)
        return -1 if chosen is None else named.index(chosen)

    def event(self, kind, number, name, nbytes, where):
        array = ArrayInfo(number, name, nbytes)
        if kind == "new":
            self.controller.allocated(array)
        elif kind == "gone":
            self.restored.pop(number, None)
            self.controller.freed(array)
        elif kind == "evict":
            self.controller.deferred(array, where, _harray.context(where).pressure["tier"])
        elif kind == "restore":
            self.restored[number] = time.monotonic()
            self.controller.retrieved(array, where)


def set_controller(controller):
    """From now on this Controller is asked; None: nobody. To be called while no other thread uses arrays."""
    if controller is not None and not isinstance(controller, Controller):
        raise TypeError(f"{controller!r} is no harray.Controller")
    _harray._set_controller(None if controller is None else _Adapter(controller))
