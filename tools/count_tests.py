#!/usr/bin/env python3
"""Counts test cases in the logs that tools/test has gathered, and prints its last lines.

usage: count_tests.py RESULTS

A line of RESULTS is: kind, exit status, name, log file, separated by tabs. Kind "step": one command
and its output. Kind "meson": the JSON log of a `meson test`, with the output of many. Output in TAP
counts by its lines, whatever the command otherwise says; other output counts as one test.
"""
import json
import re
import sys

LAST_WORDS = 25  # lines of what a program that failed has said last
SKIP = 77  # the exit status of a test that cannot run here
TAP_LINE = re.compile(r"^(not )?ok \d+(?: -)?(.*)$", re.MULTILINE)
TAP_PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)  # cmocka prints one for each group


class Count:
    def __init__(self):
        self.passed = self.skipped = 0
        self.failed = []

    def add_output(self, name, status, output, errors=""):
        results = TAP_LINE.findall(output)
        failures = [text.strip() for bad, text in results if bad and "# SKIP" not in text.upper()]
        skipped = sum("# SKIP" in text.upper() for _, text in results)
        planned = sum(int(n) for n in TAP_PLAN.findall(output))
        words = "".join(f"\n    {line}" for line in errors.splitlines()[-LAST_WORDS:])
        self.failed += [f"{name}: {text}" for text in failures[:-1]]
        self.failed += [f"{name}: {text}{words}" for text in failures[-1:]]
        self.skipped += skipped
        self.passed += len(results) - len(failures) - skipped
        if status == SKIP and not failures:
            self.skipped += not results
        elif status != 0 and not failures:
            self.failed.append(f"{name}: exit status {status}{words}")
        elif planned != len(results):
            self.failed.append(f"{name}: {len(results)} results of {planned} that were planned")
        elif not results and status == 0:
            self.passed += 1

    def add_meson_log(self, name, status, lines):
        tests = [json.loads(line) for line in lines]
        for test in tests:
            code = test["returncode"]
            if test["result"] == "TIMEOUT":
                code = "timeout"
            self.add_output(f"{name}: {test['name']}", code, test["stdout"] or "",
                            test.get("stderr") or "")
        if not tests or (status != 0 and not self.failed):
            self.failed.append(f"{name}: meson test failed with exit status {status}")


def main():
    count = Count()
    with open(sys.argv[1], encoding="utf-8") as results:
        for line in results:
            kind, status, name, log = line.rstrip("\n").split("\t")
            try:
                with open(log, encoding="utf-8", errors="replace") as text:
                    if kind == "meson":
                        count.add_meson_log(name, int(status), text)
                    else:
                        count.add_output(name, int(status), text.read())
            except FileNotFoundError:
                count.failed.append(f"{name}: there is no log {log}")
    for failure in count.failed:
        print(f"FAILED {failure}")
    print(f"{count.passed} passed, {len(count.failed)} failed, {count.skipped} skipped")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
