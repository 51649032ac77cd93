#!/usr/bin/env python3
"""Checks traces of several ranks: test_trace_mpi.py HALO_MPI MPIEXEC

Four ranks of examples/halo_mpi write one each, tools/merge-traces makes one of them, and tools/draw-trace a picture.
Every message is there on both sides, with the same bytes, and it has not come before it was sent.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402 pylint: disable=wrong-import-position

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
RANKS, STEPS = 4, 5
FACE = 16 * 8 * 16  # bytes of a face of a block of 16 * 8 * 8 cells of 16 bytes, with neighbours in two directions
NAMES = [f"rank {rank}" for rank in range(RANKS)]


def tool(name, *arguments):
    return subprocess.run([sys.executable, TOOLS / name, *map(str, arguments)], capture_output=True, text=True, check=False)


class Messages:
    """Begins and ends of what was sent and received, by sender and receiver, in order."""

    def __init__(self, records):
        phases = collections.defaultdict(dict)
        for record in records:
            if record["ph"] in "be" and record["cat"] == "message":
                phases[record["pid"], record["id"]][record["ph"]] = record
        self.sent, self.received = collections.defaultdict(list), collections.defaultdict(list)
        for pair in phases.values():
            begin, end = pair["b"], pair["e"]
            args = begin["args"]
            side = self.sent if begin["name"] == f"send to {args['to']}" else self.received
            own = args["from"] if side is self.sent else args["to"]
            side[args["from"], args["to"]].append((begin["ts"], end["ts"], args["bytes"], f"rank {begin['pid'] - 1}" == own))
        for side in self.sent, self.received:
            for messages in side.values():
                messages.sort()

    def all(self):
        return [m for side in (self.sent, self.received) for messages in side.values() for m in messages]

    def both(self):
        """(sent, received) of each message."""
        return [pair for route, sent in self.sent.items() for pair in zip(sent, self.received[route])]


class Test(Checks):
    def __init__(self, program, launcher, folder):
        super().__init__(program, HARRAY_CACHE="off", HARRAY_TRACE=os.path.join(folder, "rank-%r.json"))
        self.launcher, self.folder = launcher, pathlib.Path(folder)

    def that(self, truth, name, *details):
        self.check(name, truth, *details)

    def check_all(self):
        done = self.run("-n", str(RANKS), self.program, "--size", "16", "16", "16", "--steps", str(STEPS),
                        program=self.launcher)
        self.that(done.returncode == 0, "the program runs", done.stderr)
        self.files = [self.folder / f"rank-{rank}.json" for rank in range(RANKS)]
        self.that(sorted(self.folder.iterdir()) == self.files, "each rank writes a file")
        merged = tool("merge-traces", *reversed(self.files))
        self.that(merged.returncode == 0 and merged.stderr == "", "the files become one", merged.stderr)
        self.records = json.loads(merged.stdout)
        self.check_processes()
        self.check_messages(Messages(self.records))
        self.check_other_machine(merged.stdout)
        self.check_refused()
        self.check_picture(merged.stdout)

    def check_processes(self):
        named = {r["pid"]: r["args"]["name"] for r in self.records if r["name"] == "process_name"}
        self.that([named[pid] for pid in sorted(named)] == NAMES, "a process for each rank, in their order", named)
        tracks = collections.defaultdict(set)
        for record in self.records:
            if record["name"] == "thread_name":
                tracks[record["pid"]].add(record["args"]["name"])
        self.that(all({"thread 1", "sim:0"} <= tracks[pid] for pid in named), "with tracks of threads and queues", tracks)
        times = [[r["ts"] for r in self.records if r["pid"] == pid and r["ph"] == "X"] for pid in named]
        self.that(max(map(min, times)) < min(map(max, times)), "their times overlap")
        keys = [(r["cat"], r["id"], r["ph"]) for r in self.records if r["ph"] in "be"]
        self.that(len(set(keys)) == len(keys), "what has a track of its own has a number of its own")

    def check_messages(self, messages):
        neighbours = {(a, b) for a in NAMES for b in NAMES if bin(int(a[-1]) ^ int(b[-1])).count("1") == 1}
        last = {(name, "rank 0") for name in NAMES}  # heat and smoke
        self.that(set(messages.sent) == set(messages.received) == neighbours | last, "who sends to whom", messages.sent.keys())
        self.that(all(ours for *_, ours in messages.all()), "on the track of the rank that does it")
        self.that(all(begin <= end for begin, end, *_ in messages.all()), "none ends before it begins")
        for route in sorted(neighbours):
            sizes = [size for _, _, size, _ in messages.sent[route]]
            self.that(sizes[:STEPS] == [FACE] * STEPS and len(sizes) == STEPS + 2 * (route in last), f"{route}: {sizes}")
        self.that(all(len(sent) == len(messages.received[route]) for route, sent in messages.sent.items()),
                  "as many are received as are sent")
        pairs = messages.both()
        self.that(all(sent[2] == received[2] for sent, received in pairs), "with the same bytes")
        self.that(all(sent[0] <= received[1] for sent, received in pairs), "none has come before it was sent")

    def check_other_machine(self, merged):
        """The last rank's file as another machine would have written it, on which less time has passed."""
        file = self.files[-1]
        before = file.read_text(encoding="utf-8")
        other = re.sub(r'"boot": "[^"]*"', '"boot": "another"', before)
        other = re.sub(r'"ahead_ns": (\d+)', lambda m: f'"ahead_ns": {int(m[1]) + 5 * 10**9}', other)
        other = re.sub(r'"ts": (\d+)', lambda m: f'"ts": {int(m[1]) - 5 * 10**6}', other)
        file.write_text(other, encoding="utf-8")
        done = tool("merge-traces", *self.files)
        file.write_text(before, encoding="utf-8")
        self.that("rank 3 was on" in done.stderr and done.stderr.count("\n") == 1, "another machine is told of", done.stderr)
        # the clock of the day may have been set meanwhile, by some microseconds
        times, expected = ([r["ts"] for r in json.loads(text) if r["pid"] == RANKS and "ts" in r] for text in (done.stdout, merged))
        self.that(times and len(times) == len(expected) and
                  all(abs((a - b) - (times[0] - expected[0])) < 0.01 for a, b in zip(times, expected)), "all times are shifted alike")
        self.that(abs(times[0] - expected[0]) < 1e6, "to about where they were")

    def check_refused(self):
        twice = tool("merge-traces", self.files[0], self.files[1], self.files[0])
        self.that(twice.returncode == 1 and "both are of rank 0" in twice.stderr, "a rank twice is refused", twice.stderr)
        broken = self.folder / "broken.json"
        broken.write_text('[\n{"name": "process_name", "ph"', encoding="utf-8")
        done = tool("merge-traces", broken)
        self.that(done.returncode == 1 and "cannot be read" in done.stderr, "what is no trace is refused", done.stderr)
        broken.write_text('[{"name": "process_name", "ph": "M", "args": {"name": "threads"}}]', encoding="utf-8")
        done = tool("merge-traces", broken)
        self.that(done.returncode == 1 and "no launcher" in done.stderr, "so is one of no rank", done.stderr)

    def check_picture(self, merged):
        file = self.folder / "all.json"
        file.write_text(merged, encoding="utf-8")
        done = tool("draw-trace", file, 0, 10**6)
        self.that(done.returncode == 0, "a picture is drawn", done.stderr)
        drawn = xml.etree.ElementTree.fromstring(done.stdout)
        arrows = [path for path in drawn.iter("{http://www.w3.org/2000/svg}path") if path.get("marker-end")]
        self.that(len(arrows) == len(Messages(self.records).both()), "with an arrow for each message", len(arrows))


def main():
    with tempfile.TemporaryDirectory() as folder:
        test = Test(sys.argv[1], sys.argv[2], folder)
        test.check_all()
        return test.end()


if __name__ == "__main__":
    sys.exit(main())
