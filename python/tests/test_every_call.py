"""Each public function, method and attribute is called 1,000 times and leaves nothing behind; none is missing."""
import ast
import gc
import pathlib
import tracemalloc

import pytest

import every_call
import harray as ha
from test_life import clear_caches

# What a class has that is no call of its own.
PLAIN = {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__new__", "__init__", "__match_args__", "__firstlineno__",
         "__static_attributes__"}
NUMBERS = {"KEEP", "host", "ops"} # which are none


def is_public(name):
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__") and name not in PLAIN)


def names_of_the_package():
    found = set(ha.__all__) - NUMBERS
    for name in list(found):
        kind = getattr(ha, name)
        if isinstance(kind, type):
            found |= {f"{name}.{part}" for part in vars(kind) if is_public(part)}
    return found | {f"ops.{name}" for name in vars(ha.ops) if is_public(name) and callable(getattr(ha.ops, name))}


def names_of_the_stubs():
    """Of _harray.pyi, where buffers have names, too, which types of older interpreters have not."""
    found, tree = set(), ast.parse(pathlib.Path(ha.__file__).with_name("_harray.pyi").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            found |= {f"{node.name}.{part.name}" for part in ast.walk(node) if isinstance(part, ast.FunctionDef) and is_public(part.name)}
    return found | {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and is_public(node.name)}


@pytest.mark.parametrize("names", [names_of_the_package, names_of_the_stubs])
def test_none_is_missing(names):
    assert names() and not names() - set(every_call.CALLS) - set(every_call.ONCE)


def test_there_are_no_others():
    assert not {*every_call.CALLS, *every_call.ONCE} - names_of_the_package() - names_of_the_stubs()


@pytest.fixture(name="quick", scope="module")
def _quick():
    """The collector looks at what is new alone."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def repeat(function, count):
    for _ in range(count):
        function()
    gc.collect()
    clear_caches()
    return tracemalloc.get_traced_memory()[0]


def ledger():
    return ha.host.memory["live"], ha.context("sim:0").memory["live"], every_call.GPU.memory["live"], len(ha.exports())


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", {function: name for name, function in every_call.CALLS.items()}.values()) # each function once
def test_nothing_is_left(name):
    function = every_call.CALLS[name]
    repeat(function, 50)
    live = ledger()
    tracemalloc.start()
    try:
        repeat(function, 50)
        traced = [repeat(function, 250) for _ in range(4)]
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in zip(traced, traced[1:])]
    assert min(grown) < 2000, grown # 8 bytes each; what Python itself keeps for later does not grow each time
    assert ledger() == live
