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


def _teller(tell):
    """What the extension calls for a method that gets an array and nothing else. An ArrayInfo is made the quick way: it is for
    each array that is made or freed."""
    def told(number, name, nbytes, _, new=tuple.__new__, kind=ArrayInfo):
        tell(new(kind, (number, name, nbytes)))
    return told


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

    def gone(self, number, name, nbytes, _):
        self.restored.pop(number, None)
        self.controller.freed(ArrayInfo(number, name, nbytes))

    def evict(self, number, name, nbytes, where):
        self.controller.deferred(ArrayInfo(number, name, nbytes), where, _harray.context(where).pressure["tier"])

    def restore(self, number, name, nbytes, where):
        if self.chooses:
            self.restored[number] = time.monotonic()
        self.controller.retrieved(ArrayInfo(number, name, nbytes), where)

    def heard(self):
        """What is called of new, gone, evict, and restore: nothing for what the controller leaves as it is. Who chooses is
        told when arrays came back."""
        is_own, chooses = self.is_own, self.chooses
        freed = _teller(self.controller.freed) if is_own("freed") else None
        return (_teller(self.controller.allocated) if is_own("allocated") else None, self.gone if chooses else freed,
                self.evict if is_own("deferred") else None, self.restore if is_own("retrieved") or chooses else None)


def set_controller(controller):
    """From now on this Controller is asked; None: nobody. To be called while no other thread uses arrays."""
    if controller is None:
        _harray._set_controller(None, (None,) * 4)
        return
    if not isinstance(controller, Controller):
        raise TypeError(f"{controller!r} is no harray.Controller")
    adapter = _Adapter(controller)
    _harray._set_controller(adapter, adapter.heard())
