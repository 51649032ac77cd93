#!/usr/bin/env python3
"""Checks docs/porting.md: the difference in it is that between examples/cg/cg_plain.c and cg.c, and
no function has more than twenty changed lines.

usage: test_porting.py [--update]
  --update  writes the difference into docs/porting.md
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEFORE, AFTER = "examples/cg/cg_plain.c", "examples/cg/cg.c"
DOCUMENT = "docs/porting.md"
MOST = 20


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as text:
        return text.read()


def difference():
    done = subprocess.run(["diff", "-u", "--label", BEFORE, "--label", AFTER, BEFORE, AFTER],
                          cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def functions(text):
    """For each line the name of the function that it is in, or "". The head of a function begins in
    the first column, and so does its closing brace."""
    inside, names = "", []
    for line in text.splitlines():
        head = re.match(r"[a-z][\w ]*[ *](\w+)\(", line)
        inside = head[1] if head and not line.endswith(";") else inside
        names.append(inside)
        if line.startswith("}"):
            inside = ""
    return names


def changes(diff):
    """{function: lines}; a line that was replaced counts once."""
    gone, come = {}, {}
    old_names, new_names = functions(read(BEFORE)), functions(read(AFTER))
    old = new = 0
    for line in diff.splitlines()[2:]:
        hunk = re.match(r"@@ -(\d+).* \+(\d+)", line)
        if hunk:
            old, new = int(hunk[1]) - 1, int(hunk[2]) - 1
            continue
        if line.startswith("-"):
            gone[old_names[old]] = gone.get(old_names[old], 0) + 1
        elif line.startswith("+"):
            come[new_names[new]] = come.get(new_names[new], 0) + 1
        old += not line.startswith("+")
        new += not line.startswith("-")
    return {f: max(gone.get(f, 0), come.get(f, 0)) for f in {*gone, *come} if f}


def main():
    diff, document = difference(), read(DOCUMENT)
    block = re.search(r"^```diff\n(.*?)^```$", document, re.DOTALL | re.MULTILINE)
    if sys.argv[1:] == ["--update"]:
        with open(os.path.join(ROOT, DOCUMENT), "w", encoding="utf-8") as file:
            file.write(document[: block.start(1)] + diff + document[block.end(1) :])
        return 0
    changed = changes(diff)
    most = max(changed.values())
    results = [
        ("the difference is the current one", block and block[1] == diff),
        ("functions are recognised", {"solve", "run", "iterate", "read_options"} <= set(changed)),
        (f"at most {MOST} changed lines in a function: {most}", most <= MOST),
        ("the document gives the number", f"At most {most} lines" in document),
    ]
    for number, (name, good) in enumerate(results, 1):
        print("ok" if good else "not ok", number, "-", name)
    for name, lines in sorted(changed.items(), key=lambda item: -item[1]):
        print(f"# {lines:2} {name}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
