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

    def __init__(self, controller):
        self.controller = controller
        self.chooses = self.is_own("choose")
        self.restored = {} # for who chooses

    def is_own(self, name):
        return getattr(getattr(self.controller, name), "__func__", None) is not getattr(Controller, name)

    def pressure(self, where, need, attempt):
        return bool(self.controller.pressure(where, need, attempt))

    def choose(self, where, candidates, need):
        named = [Candidate(i, name, size, priority, bool(done), self.restored.get(i, 0.0))
                 for i, name, size, priority, done in candidates]
        chosen = self.controller.choose(where, named, need)
        return -1 if chosen is None else named.index(chosen)

    def gone(self, array):
        self.restored.pop(array.id, None)
        self.controller.freed(array)

    def evict(self, array, where):
        self.controller.deferred(array, where, _harray.context(where).pressure["tier"])

    def restore(self, array, where):
        if self.chooses:
            self.restored[array.id] = time.monotonic()
        self.controller.retrieved(array, where)

    def heard(self):
        """What is called of new, gone, evict, and restore: nothing for what the controller leaves as it is. Who chooses is
        told when arrays came back."""
        is_own, chooses, controller = self.is_own, self.chooses, self.controller
        freed = controller.freed if is_own("freed") else None
        return (controller.allocated if is_own("allocated") else None, self.gone if chooses else freed,
                self.evict if is_own("deferred") else None, self.restore if is_own("retrieved") or chooses else None)


def set_controller(controller):
    """From now on this Controller is asked; None: nobody. To be called while no other thread uses arrays."""
    if controller is None:
        _harray._set_controller(None, (None,) * 4, ArrayInfo)
        return
    if not isinstance(controller, Controller):
        raise TypeError(f"{controller!r} is no harray.Controller")
    adapter = _Adapter(controller)
    _harray._set_controller(adapter, adapter.heard(), ArrayInfo)
