"""Whether a program will ever end: told by what it does, and not by how long it takes, so that a busy
machine makes no difference. It will not when all its threads have slept for a while without waking
once, or when it has computed for far too long. Linux; elsewhere, and for what does neither, there can
be a time-out.

usage: python3 standstill.py COMMAND [ARGUMENT ...]

Runs the command, and ends it when it will not end by itself.
"""
import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
# For a command: no test sleeps for so long, or computes for so long.
COMMAND_ASLEEP_SECONDS = 60
COMMAND_CPU_SECONDS = 6 * 3600
COMMAND_LOOK_SECONDS = 1


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def threads(pid):
    """Directories of the threads of a process, and of its children's."""
    tasks = f"/proc/{pid}/task"
    for thread in os.listdir(tasks):
        yield f"{tasks}/{thread}"
        for child in children(f"{tasks}/{thread}"):
            yield from threads(child)


def children(thread):
    return read(f"{thread}/children").split()


def rest(pid):
    """None: something runs, or may, or the kernel does not tell. Else the same again as long as nothing
    wakes."""
    seen = []
    try:
        for thread in threads(pid):
            fields = dict(line.split(":\t", 1) for line in read(f"{thread}/status").splitlines()
                          if ":\t" in line)
            if fields["State"][0] != "S":
                return None
            seen.append((thread, fields["voluntary_ctxt_switches"]))
    except (OSError, KeyError):
        return None
    return tuple(seen)


def processes(pid):
    """The process, and those that it has begun: their numbers."""
    found = {int(pid)}
    with contextlib.suppress(OSError):
        for thread in threads(pid):
            found.add(int(thread.split("/")[2]))
    return found


def computed(pid):
    """Seconds so far, with those of what it has begun, also of children that have ended."""
    ticks = 0
    for one in processes(pid):
        with contextlib.suppress(OSError):
            fields = read(f"/proc/{one}/stat").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


class Watch(threading.Thread):
    """Calls end() once the process has slept for `asleep_seconds`, has computed for `cpu_seconds`, or has
    taken `seconds`, and says so in `why`."""

    def __init__(self, pid, end, *, cpu_seconds, seconds=math.inf, asleep_seconds=1, look_seconds=0.1):
        super().__init__(daemon=True)
        self.pid, self.end = pid, end
        self.cpu_seconds, self.seconds = cpu_seconds, seconds
        self.asleep_seconds, self.look_seconds = asleep_seconds, look_seconds
        self.why = None
        self.over = threading.Event()

    def run(self):
        begin = since = time.monotonic()
        before = None
        while not self.over.wait(self.look_seconds):
            now, at_rest = time.monotonic(), rest(self.pid)
            if at_rest is None or at_rest != before:
                before, since = at_rest, now
            if now - since > self.asleep_seconds:
                self.why = "does not end: all its threads sleep"
            elif computed(self.pid) > self.cpu_seconds:
                self.why = "does not end: it computes"
            elif now - begin > self.seconds:
                self.why = "does not end"
            if self.why:
                self.end()
                return

    def stop(self):
        self.over.set()
        self.join()


def kill(pid):
    """The process, and those that it has begun: they may keep open where its output goes."""
    for begun in processes(pid):
        with contextlib.suppress(OSError):
            os.kill(begun, signal.SIGKILL)


# A search for leaks that fails itself, at random beside threads that end, says nothing of the program: it is run again.
SEARCH_FAILED = b"LeakSanitizer has encountered a fatal error"
MOST_RUNS = 3


def pass_on(stream, lines):
    """To stderr, as it comes; and which of its lines are such."""
    for line in stream:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
        if SEARCH_FAILED in line:
            lines.append(line)


def run(command):
    """The status of a command, and whether it was a search for leaks that failed."""
    failed = []
    process = subprocess.Popen(command, stderr=subprocess.PIPE)  # pylint: disable=consider-using-with
    reader = threading.Thread(target=pass_on, args=(process.stderr, failed), daemon=True)
    reader.start()
    watch = Watch(process.pid, lambda: kill(process.pid), cpu_seconds=COMMAND_CPU_SECONDS,
                  asleep_seconds=COMMAND_ASLEEP_SECONDS, look_seconds=COMMAND_LOOK_SECONDS)
    watch.start()
    status = process.wait()
    watch.stop()
    reader.join(COMMAND_LOOK_SECONDS)  # what the command has begun may keep the stream open
    if watch.why:
        print(f"{command[0]} {watch.why}", file=sys.stderr, flush=True)
    return 128 - status if status < 0 else status, bool(failed)


def main():
    for _ in range(MOST_RUNS):
        status, search_failed = run(sys.argv[1:])
        if not search_failed:
            break
    return status


if __name__ == "__main__":
    sys.exit(main())
