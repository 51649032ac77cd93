from typing import NamedTuple

from ._harray import Context

class ArrayInfo(NamedTuple):
    id: int
    name: str
    nbytes: int

class Candidate(NamedTuple):
    id: int
    name: str
    nbytes: int
    priority: int
    is_done: bool
    restored_at: float

class Controller:
    def pressure(self, where: Context, need: int, attempt: int) -> bool | None: ...
    def choose(self, where: Context, candidates: list[Candidate], need: int) -> Candidate | None: ...
    def allocated(self, array: ArrayInfo) -> None: ...
    def freed(self, array: ArrayInfo) -> None: ...
    def deferred(self, array: ArrayInfo, source: str, target: str) -> None: ...
    def retrieved(self, array: ArrayInfo, target: str) -> None: ...

def set_controller(controller: Controller | None) -> None: ...
