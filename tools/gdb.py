"""Shows arrays, accesses, views, cursors and records in gdb: (gdb) source tools/gdb.py

- an array or the handle of one: its name, type and size; which elements are valid in which memory
- an access: its elements
- a view: its records by field, if the program says HA_VIEW_DEBUG(view, record) in one file
- a cursor: the index among the records, as they lie in memory
- a record array: its name and extents; layout and validity in each memory

The types of arrays' insides are those of the file that defines HARRAY_IMPLEMENTATION, compiled with -g.
Views and record arrays of a program that does not run (a core) are shown without their records.
"""
import gdb

MOST = 20  # elements or records that are shown


def text(value):
    return value.string(errors="replace") if int(value) else ""


def chain(value, following):
    while int(value):
        yield value.dereference()
        value = value[following]


# ---- arrays ----------------------------------------------------------------------------------------


def name_of(array):
    name = array["name"].string(errors="replace")
    kind = text(array["type"])
    quoted = f"'{name}' " if name else ""
    if int(array["ops"]):
        return f"{quoted}({kind}[{', '.join(map(str, extents_of(array)))}])"
    return f"{quoted}({kind}[{int(array['size'])}])"


def ranges_of(valid):
    ranges = valid["heap"] if int(valid["heap"]) else valid["one"].address
    return [(int(ranges[i]["first"]), int(ranges[i]["last"])) for i in range(int(valid["n"]))]


def incarnations_of(array):
    return [array["first"], *chain(array["first"]["next"], "next")]


def described(array):
    for incarnation in incarnations_of(array):
        if not int(incarnation["block"]):
            continue
        valid = " ".join(f"[{first}, {last})" for first, last in ranges_of(incarnation["valid"]))
        yield memory_of(incarnation), f"valid {valid or 'nothing'}"


def memory_of(incarnation):
    symbol = str(incarnation["memory"])
    return "host" if "ha_host_memory" in symbol else f"memory {symbol.split()[0]}"


class Array:
    """A ha_array, or a handle of one."""

    def __init__(self, array):
        self.array = array

    def to_string(self):
        if not int(self.array):
            return "no array"
        array = self.array.dereference()
        if not int(array["references"]):
            return "an array that was freed"
        return f"array {name_of(array)}, version {int(array['version'])}"

    def children(self):
        if int(self.array) and int(self.array.dereference()["references"]):
            yield from described(self.array.dereference())


class Access:
    """A ha_read_T or ha_write_T."""

    def __init__(self, access):
        self.access = access

    def to_string(self):
        if not int(self.access["data"]):
            return "an access that is not open"
        first, size = int(self.access["first"]), int(self.access["size"])
        return f"access to elements [{first}, {first + size})"

    def children(self):
        shown = min(int(self.access["size"]), MOST) if int(self.access["data"]) else 0
        for i in range(shown):
            yield f"[{int(self.access['first']) + i}]", self.access["data"][i]


# ---- record arrays ---------------------------------------------------------------------------------


def state_of(array):
    return array["ops"].cast(gdb.lookup_type("ha_records_state").pointer()).dereference()


def extents_of(array):
    state = state_of(array)
    return [int(state["extent"][d]) for d in range(int(state["rank"]))]


class Records:
    """A ha_records, or a handle that HA_RECORDS has made."""

    def __init__(self, records):
        self.records = records

    def to_string(self):
        if not int(self.records):
            return "no records"
        if not int(self.records["array"]):
            return "records that were freed"
        return f"records {name_of(self.records['array'].dereference())}"

    def children(self):
        if not int(self.records) or not int(self.records["array"]):
            return
        array = self.records["array"].dereference()
        for placement in chain(state_of(array)["placements"], "next"):
            yield memory_of(placement), text(placement["mapping"]["text"])


# ---- views -----------------------------------------------------------------------------------------


def function(name):
    symbol = gdb.lookup_symbol(name)[0] or gdb.lookup_static_symbol(name)
    return symbol.value() if symbol and symbol.type.code == gdb.TYPE_CODE_FUNC else None


class Cursor:
    def __init__(self, cursor):
        self.cursor = cursor

    def to_string(self):
        block, lane = int(self.cursor["block"]), int(self.cursor["lane"])
        lanes = int(self.cursor["lanes"])
        return f"cursor at {(block * lanes if lanes else block) + lane}"


class View:
    """What HA_VIEW has made."""

    def __init__(self, view, const):
        self.view = view["view"] if const else view
        self.name = self.view.type.strip_typedefs().tag
        self.at, self.load = function(f"{self.name}_at"), function(f"{self.name}_load")

    def rank(self):
        return len(self.at.type.fields()) - 1 if self.at else 1

    def to_string(self):
        extents = ", ".join(str(int(self.view["extent"][d])) for d in range(self.rank()))
        kept = "" if self.load and self.at else f": HA_VIEW_DEBUG({self.name}, …) shows its records"
        return f"view {self.name} of [{extents}]{kept}"

    def children(self):
        if not self.at or not self.load:
            return
        extent = [int(self.view["extent"][d]) for d in range(self.rank())]
        for linear in range(min(int(self.view["count"]), MOST)):
            index = []
            for n in reversed(extent):
                index.insert(0, linear % n)
                linear //= n
            try:
                record = self.load(self.view, self.at(self.view, *index))
            except gdb.error:  # nothing can be called, as in a core
                return
            yield "".join(f"[{i}]" for i in index), record


# ---- which is which ----------------------------------------------------------------------------------


def members(kind):
    return {field.name for field in kind.fields()} if kind.code in KINDS else set()


KINDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
VIEW = {"blob", "extent", "count", "kind", "order", "lanes", "stride", "as"}
ACCESS = {"data", "size", "first", "array", "context", "ticket", "status"}
HANDLE = {"array", "read_", "write_"}


def printer(value):
    kind = value.type.strip_typedefs()
    if kind.code not in KINDS:
        return None
    names = members(kind)
    if kind.tag == "ha_array":
        return Array(value.address)
    if kind.tag == "ha_cursor":
        return Cursor(value)
    if kind.tag == "ha_records":
        return Records(value.address)
    if names >= HANDLE:
        return Array(value["array"])
    if names >= ACCESS and kind.tag != "ha_access":
        return Access(value)
    if names >= VIEW:
        return View(value, False)
    if names == {"view"} and members(value["view"].type.strip_typedefs()) >= VIEW:
        return View(value, True)
    if "records" in names and "view_" in all_members(kind):
        return Records(value["records"])
    return None


def all_members(kind):
    names = set()
    for field in kind.fields():
        names |= {field.name} if field.name else all_members(field.type.strip_typedefs())
    return names


gdb.pretty_printers.insert(0, printer)
