"""Whether a program will ever end: told by what it does, and not by how long it takes, so that a busy
machine makes no difference. It will not when all its threads have slept for a while without waking
once, or when it has computed for far too long. Linux; elsewhere, and for what does neither, there is
a time-out."""
import os
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
ASLEEP_SECONDS = 1  # all that while
LOOK_SECONDS = 0.1


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
    try:
        return read(f"{thread}/children").split()
    except FileNotFoundError:  # a kernel that does not tell
        return []


def rest(pid):
    """None: something runs, or may. Else the same again as long as nothing wakes."""
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


def computed(pid):
    """Seconds so far, with those of children that have ended."""
    try:
        fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / TICKS


class Watch(threading.Thread):
    """Calls end() once the process stands still, has computed for `cpu_seconds`, or has taken
    `seconds`, and says so in `why`."""

    def __init__(self, pid, cpu_seconds, seconds, end):
        super().__init__(daemon=True)
        self.pid, self.cpu_seconds, self.seconds, self.end = pid, cpu_seconds, seconds, end
        self.why = None
        self.over = threading.Event()

    def run(self):
        begin = since = time.monotonic()
        before = None
        while not self.over.wait(LOOK_SECONDS):
            now, at_rest = time.monotonic(), rest(self.pid)
            if at_rest is None or at_rest != before:
                before, since = at_rest, now
            if now - since > ASLEEP_SECONDS:
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
