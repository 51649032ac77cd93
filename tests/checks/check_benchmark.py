#!/usr/bin/env python3
"""Runs a benchmark for one short pass and checks what it prints; says nothing about speed.

usage: check_benchmark.py COMMAND [ARGUMENT ...]
"""
import json
import subprocess
import sys

TEXTS = ["figure", "variant", "reference"]
NUMBERS = ["ns", "ns_min", "reference_ns", "reference_ns_min", "ratio", "ratio_min", "ratio_max",
           "pairs"]


def problem(line):
    try:
        figure = json.loads(line)
    except json.JSONDecodeError as error:
        return str(error)
    for key in TEXTS:
        if not isinstance(figure.get(key), str):
            return f"no text {key}"
    for key in NUMBERS:
        if not isinstance(figure.get(key), (int, float)):
            return f"no number {key}"
    return ""


def main():
    run = subprocess.run([*sys.argv[1:], "--smoke"], stdout=subprocess.PIPE, text=True, check=False)
    lines = run.stdout.splitlines()
    failed = 0
    for number, line in enumerate(lines, 1):
        wrong = problem(line)
        failed += wrong != ""
        print(f"not ok {number} - {wrong}: {line}" if wrong
              else f"ok {number} - {json.loads(line)['figure']}")
    good = run.returncode == 0 and lines
    print(f"{'ok' if good else 'not ok'} {len(lines) + 1} - exit status {run.returncode}")
    print(f"1..{len(lines) + 1}")
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
