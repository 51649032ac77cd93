#!/usr/bin/env python3
"""Prints lines and branches taken, a row for each file of the engine, merged over all programs.

usage: coverage_report.py BUILD-DIR

Test programs link the engine, or compile it for themselves; a branch counts as taken when any of them takes
it. tests/checks/coverage_exclusions.txt lists what is not counted. The output is TAP: one result for each
exclusion, which fails when there is nothing left to exclude, and one for all branches.
"""
import collections
import concurrent.futures
import glob
import json
import os
import pathlib
import subprocess
import sys

MEASURED = ("harray/impl/", "layout/impl/", "backends/host/", "backends/sim/")  # beginnings of paths
# Which of these runs is the processor's choice; test_convert compares each that can with portable
# code.
LEFT_OUT = ("layout/impl/convert/avx", "layout/impl/convert/neon")
# What this processor cannot do is not counted here.
HAS_AVX512 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii")
EXCLUSIONS = "tests/checks/coverage_exclusions.txt"
LEAST = 95.0  # percent of all branches


def read_counters(build):
    """Merges the counters of all programs: {(file, line): count}, {(file, line, branch): count}."""
    lines = collections.Counter()
    branches = collections.Counter()
    counters = glob.glob(f"{build}/**/*.gcda", recursive=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(counts_of, counters):
            data = json.loads(text)
            for file in data["files"]:
                path = os.path.join(data["current_working_directory"], file["file"])
                path = os.path.relpath(os.path.realpath(path))
                if path.startswith(MEASURED) and not path.startswith(LEFT_OUT):
                    add_lines(path, file["lines"], lines, branches)
    return lines, branches


def counts_of(counter):
    command = ["gcov", "--json-format", "--branch-probabilities", "--stdout", counter]
    return subprocess.run(command, check=True, capture_output=True).stdout


def add_lines(path, entries, lines, branches):
    for line in entries:
        place = (path, line["line_number"])
        function = line.get("function_name")
        if function and function.endswith("_avx512") and not HAS_AVX512:
            continue
        lines[place] += line["count"]
        for number, branch in enumerate(line["branches"]):
            branches[place + (function, number)] += branch["count"]


def read_exclusions():
    """[file, text, reason] from lines of the form  FILE: TEXT -- REASON."""
    result = []
    with open(EXCLUSIONS, encoding="utf-8") as rows:
        for row in rows:
            if row.strip() and not row.startswith("#"):
                entry, _, reason = row.strip().rpartition(" -- ")
                path, colon, text = entry.partition(": ")
                if not (reason and colon and text):
                    sys.exit(f"{EXCLUSIONS}: not FILE: TEXT -- REASON: {row}")
                result.append((path, text, reason))
    return result


def read_source(path):
    with open(path, encoding="utf-8") as text:
        return [line.strip() for line in text]


class Report:
    """Numbered TAP results."""

    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, text):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {text}")


def percent(some, all_):
    return 100.0 * some / all_ if all_ else 100.0


def figures(name, lines, branches):
    taken = sum(count > 0 for count in branches.values())
    run = sum(count > 0 for count in lines.values())
    text = (f"{name}: branches {taken}/{len(branches)} {percent(taken, len(branches)):.1f} %, "
            f"lines {run}/{len(lines)} {percent(run, len(lines)):.1f} %")
    return text, percent(taken, len(branches))


def of_file(counters, path):
    return {place: count for place, count in counters.items() if place[0] == path}


def main():
    lines, branches = read_counters(sys.argv[1])
    sources = {path: read_source(path) for path in sorted({place[0] for place in lines})}
    report = Report()
    for path, text, reason in read_exclusions():
        excluded = [place for place, count in branches.items()
                    if count == 0 and place[0] == path and sources[path][place[1] - 1] == text]
        for place in excluded:
            del branches[place]
        report.result(excluded, f"left out in {path}: {text} -- {reason}")

    for path in sources:
        print("#", figures(path, of_file(lines, path), of_file(branches, path))[0])
    for path, number in sorted({place[:2] for place, count in branches.items() if count == 0}):
        print(f"# not taken: {path}:{number}: {sources[path][number - 1]}")
    text, reached = figures("all", lines, branches)
    report.result(reached >= LEAST and branches, f"{text} (at least {LEAST:.0f} %)")
    print(f"1..{report.count}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
