#!/usr/bin/env python3
"""Traces and reports of a program that does known things (arrays/trace_program.c): what is written is
checked against the rules of the Trace Event Format, and against what was done.

usage: test_trace.py TRACE_PROGRAM
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

THREADS, QUEUES, MEMORIES = 1, 2, 3
RANK_VARIABLES = ("PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
NAME = "a \"name\"\\ \n\t\x01 \ufffdé\ufffd\ufffd\ufffd"


def require(condition, what):
    if not condition:
        raise AssertionError(what)


class Trace:
    """The records of a file, after the checks that hold for each."""

    def __init__(self, text, ended=True):
        require(text.rstrip().endswith("]") == ended, "the end of the file")
        self.records = json.loads(text if ended else text + "]")
        self.names = {}
        self.tracks = collections.defaultdict(list)
        self.crossings = collections.defaultdict(list)
        for record in self.records:
            self.check(record)
        for (process, track), slices in self.tracks.items():
            require((process, track) in self.names, f"track {process}/{track} has no name")
            check = never_overlap if process == QUEUES else always_nest
            check(slices)
        for phases in self.crossings.values():
            require([phase for phase, _ in phases] == ["b", "e"], "b and e come in pairs")
            require(phases[0][1] <= phases[1][1], "b is before e")

    def check(self, record):
        require(isinstance(record, dict), "a record is an object")
        require(isinstance(record["name"], str), "name is a text")
        for key in ("pid", "tid"):
            require(isinstance(record[key], int), f"{key} is a number")
        phase = record["ph"]
        check = {"X": self.slice, "M": self.metadata, "C": self.counter, "b": self.crossing,
                 "e": self.crossing}
        require(phase in check, f"phase {phase}")
        check[phase](record)

    def slice(self, record):
        start, length = nanoseconds(record["ts"]), nanoseconds(record["dur"])
        require(length >= 0, "dur is not negative")
        require(record["cat"] in ("access", "transfer", "wait", "conflict", "launch", "compile"), record["cat"])
        require(isinstance(record["args"], dict), "args is an object")
        self.tracks[record["pid"], record["tid"]].append((start, start + length))

    def metadata(self, record):
        name = record["args"]["name"]
        require(isinstance(name, str), "a name is a text")
        require(record["name"] in ("process_name", "thread_name"), record["name"])
        if record["name"] == "thread_name":
            key = record["pid"], record["tid"]
            require(key not in self.names, f"track {key} is named once")
            self.names[key] = name

    def counter(self, record):
        require(record["pid"] == MEMORIES, "counters are of memories")
        require(nanoseconds(record["ts"]) > 0, "ts")
        require(record["args"]["bytes"] >= 0, "bytes are not negative")

    def crossing(self, record):
        self.crossings[record["cat"], record["id"]].append((record["ph"], record["ts"]))

    def of(self, category, phase="X"):
        return [r for r in self.records if r["ph"] == phase and r["cat"] == category]

    def track(self, record):
        return self.names[record["pid"], record["tid"]]


def nanoseconds(microseconds):
    require(isinstance(microseconds, (int, float)), "a time is a number")
    return round(microseconds * 1000)


def never_overlap(slices):
    slices.sort()
    for (_, end), (start, _) in zip(slices, slices[1:]):
        require(end <= start, "transfers of a queue overlap")


def always_nest(slices):
    open_ends = []
    slices.sort(key=lambda s: (s[0], -s[1]))
    for start, end in slices:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        require(not open_ends or end <= open_ends[-1], "slices of a thread cross")
        open_ends.append(end)


def run(program, what, file, variable=None, status=0, **others):
    environment = {k: v for k, v in os.environ.items() if k not in ("HARRAY_TRACE", *RANK_VARIABLES)}
    environment.update(HARRAY_SIM="devices=1", **others)
    if what.startswith("child"):  # a leak check in the child waits for what a thread had locked that it does not have
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    if variable:
        environment["HARRAY_TRACE"] = variable
    done = subprocess.run([program, what, file], env=environment, check=False,
                          stderr=subprocess.PIPE, text=True)
    require(done.returncode == status, f"{what}: {done.returncode}: {done.stderr}")
    return done.stderr


def read(file, errors="strict"):
    with open(file, encoding="utf-8", errors=errors) as stream:
        return stream.read()


def times_are_known(trace):
    return all(r["args"]["timed"] for r in trace.of("transfer") + trace.of("launch"))


def check_known_things(trace, times=1, timed=True):
    """What do_known_things() does, so many times."""
    transfers = trace.of("transfer")
    require(len(transfers) == 3 * times, f"{len(transfers)} transfers")
    routes = [(r["args"]["from"], r["args"]["to"], r["args"]["first"], r["args"]["last"])
              for r in transfers[:3]]
    require(sorted(routes) == sorted([("host", "sim:0", 0, 1000), ("sim:0", "host", 0, 1000),
                                      ("host", "sim:0", 100, 200)]), routes)
    for record in transfers:
        args = record["args"]
        require(args["bytes"] == 8 * (args["last"] - args["first"]), "bytes of a transfer")
        require(trace.track(record) == "sim:0", "the track of a transfer")
        require(args["type"] == "double" and args["array"] == record["name"] == NAME, args)
        require(re.search(r"trace_program\.c:\d+$", args["site"]), args["site"])
    require(not timed or times_are_known(trace), "a transfer without times")
    modes = collections.Counter(r["args"]["mode"] for r in trace.of("access"))
    require(modes == {"write": 4 * times, "read": 4 * times}, modes)
    require(len(trace.of("access", "b")) == times, "an access that crosses another one")
    require(len(trace.of("conflict")) == times, "a refusal")
    require(trace.of("conflict")[0]["args"]["status"] == "HA_ERR_CONFLICT", "a refusal's status")
    require(trace.of("wait"), "no wait")
    require(all(r["name"] == "wait for sim:0" for r in trace.of("wait")), "a wait's name")


def check_ends(program, file):
    run(program, "ended", file)
    check_known_things(Trace(read(file)))
    run(program, "shutdown", file)
    trace = Trace(read(file))
    check_known_things(trace, 2)
    counters = {r["name"]: r["args"]["bytes"] for r in trace.records if r["ph"] == "C"}
    require(counters and not any(counters.values()), f"in the end: {counters}")
    run(program, "refused", file)
    check_known_things(Trace(read(file)), timed=False)


def check_variable(program, folder, file):
    run(program, "exit", file, variable=file)
    check_known_things(Trace(read(file), ended=False), timed=False)
    run(program, "child", file, variable=file)
    check_known_things(Trace(read(file), ended=False), timed=False)
    run(program, "crash", file, variable=file, status=-6)
    trace = Trace(read(file), ended=False)
    require(len(trace.records) > 100, "a crash leaves what was written")
    run(program, "exit", file, variable=os.path.join(folder, "process-%p.json"))
    run(program, "child first", file, variable=os.path.join(folder, "first-%p.json"))
    for name in "process", "first":
        named = [f for f in os.listdir(folder) if re.fullmatch(name + r"-\d+\.json", f)]
        require(len(named) == 1, f"files of processes: {named}")
    check_ranks(program, folder, file)
    told = run(program, "exit", file, variable="/no/such/folder/file.json")
    require(told.startswith("harray: HARRAY_TRACE: ") and told.count("\n") == 1, told)


def check_ranks(program, folder, file):
    """As a launcher of MPI would start it."""
    path = os.path.join(folder, "rank-%r.json")
    run(program, "exit", file, variable=path)
    check_known_things(Trace(read(os.path.join(folder, "rank-0.json")), ended=False), timed=False)
    for number, variable in enumerate(RANK_VARIABLES, 1):
        run(program, "exit", file, variable=path, **{variable: str(number)})
        records = json.loads(read(os.path.join(folder, f"rank-{number}.json")) + "]")
        named = {(r["name"], r["tid"]): r["args"] for r in records if r["ph"] == "M"}
        require(named["process_name", 0]["name"] == f"rank {number}", "the name of a rank")
        require(named["clock", 0]["ahead_ns"] > 0 and named["clock", 0]["boot"], "the clock of a rank")
        names = {args["name"] for (what, _), args in named.items() if what == "thread_name"}
        require({"thread 1", "sim:0"} <= names, f"tracks of a rank: {names}")
        require({r["pid"] for r in records} == {number + 1}, "a rank is one process")
    run(program, "exit", file, variable=path, PMI_RANK="none", SLURM_PROCID="7")
    require(os.path.exists(os.path.join(folder, "rank-7.json")), "what is no number is no rank")


def check_threads(program, file):
    run(program, "threads", file)
    trace = Trace(read(file))
    names = {trace.track(record) for record in trace.of("access")}
    require(len(names) == 4, f"tracks of threads: {names}")
    require(len(trace.of("access")) == 4 * 40 * 3, f"{len(trace.of('access'))} accesses")
    require(times_are_known(trace), "a transfer without times")


def check_pending(program, file):
    run(program, "held", file)
    timed = [r["args"]["timed"] for r in Trace(read(file)).of("transfer")]
    require(timed == [True, False], f"a held queue: {timed}")
    run(program, "failed", file)
    timed = [r["args"]["timed"] for r in Trace(read(file)).of("transfer")]
    require(timed == [False], f"a failed queue: {timed}")


def check_report(program, file):
    run(program, "report", file)
    text = read(file, errors="replace")  # the table shows names as they are, JSON does not
    first, _, table = text.partition("\n")
    report = json.loads(first)
    require(report["dropped_events"] == 0, "events were dropped")
    memories = {m["memory"]: m for m in report["memories"]}
    require(memories["sim:0"]["bytes_in"] == 8000, "bytes into sim:0")
    require(memories["sim:0"]["transfers_out"] == 1, "transfers out of sim:0")
    require(memories["host"]["bytes_in"] == 4000, "bytes into the host")
    for memory in memories.values():
        parts = sum(memory[key] for key in ("live", "cached", "retired", "staging"))
        require(memory["handed_out"] == parts, f"the account of {memory['memory']}")
    sites = [s for s in report["sites"] if "trace_program.c" in s["site"]]
    require([s["bytes"] for s in sites] == [8000, 4000], sites)
    require([s["transfers"] for s in sites] == [1, 1], sites)
    require([s["accesses"] for s in sites] == [1, 1], sites)
    array, = report["arrays"]
    require(array["array"] == NAME and array["type"] == "double", array)
    require((array["size"], array["transfers"], array["bytes"]) == (1000, 2, 12000), array)
    require(array["accesses"] == 3, array)
    for column in ("memory", "high water", "call site", "watched array"):
        require(column in table, f"no '{column}' in the table")
    require("7.8 KiB" in table and sites[0]["site"] in table, "the table's figures")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        check_ends(program, file)
        check_variable(program, folder, file)
        check_threads(program, file)
        check_pending(program, file)
        check_report(program, file)


if __name__ == "__main__":
    main()
