import os
from collections.abc import Sequence
from typing import SupportsComplex, SupportsFloat, SupportsIndex

from ._harray import Array, _Where

_Lane = SupportsIndex | tuple[SupportsIndex, SupportsIndex]

_Argument = Array | SupportsComplex | SupportsFloat | SupportsIndex

class Kernel:
    name: str
    def __init__(self, name: str, parameters: str, index: str, body: str, uses: str | None = None) -> None: ...
    def __call__(self, ctx: _Where, lanes: _Lane | Sequence[_Lane], *arguments: _Argument) -> None: ...
    def log(self, ctx: _Where) -> str: ...

def kernel(name: str, parameters: str, index: str, body: str, *, uses: str | None = None) -> Kernel: ...

class Library:
    def __init__(self, path: str | os.PathLike[str]) -> None: ...
    def __getattr__(self, name: str) -> Kernel: ...
