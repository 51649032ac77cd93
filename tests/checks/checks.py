"""What the checks of the examples share: results as TAP, files that they make, and a program that they run."""
import os
import re
import subprocess


class Checks:
    """Of one program, in a folder of its own if it needs files."""

    def __init__(self, program, folder=None, **environment):
        self.program, self.folder = os.path.abspath(program), folder
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HARRAY_")}
        # Under ThreadSanitizer, a program would sleep a second before it ends.
        kept["TSAN_OPTIONS"] = kept.get("TSAN_OPTIONS", "") + " atexit_sleep_ms=0"
        self.environment = {**kept, **environment}
        self.count = self.failures = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, content):
        """A file of text or bytes."""
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def check(self, name, truth, *details):
        self.count += 1
        self.failures += not truth
        print("ok" if truth else "not ok", self.count, "-", name)
        if not truth:
            print("\n".join("# " + line for d in details for line in str(d).splitlines()))

    def skip(self, name, why):
        self.check(f"{name} # SKIP {why}", True)

    @staticmethod
    def lacks(done, kind):
        """A program that has ended says that there is no such context. All else that may go wrong is no reason to skip."""
        return done.returncode != 0 and bool(
            re.search(rf"no (context|kind of context is called) '{kind}[:']", done.stderr))

    def run(self, *arguments, program=None, **environment):
        return subprocess.run([program or self.program, *arguments], capture_output=True, text=True,
                              env={**self.environment, **environment}, check=False)

    def bad(self, name, status, message, *arguments, program=None, **environment):
        """It fails in this way, and says so in one line, or how it is used."""
        done = self.run(*arguments, program=program, **environment)
        is_short = done.stderr.count("\n") == 1 or done.stderr.lower().startswith("usage: ")
        self.check(name, done.returncode == status and message in done.stderr and is_short,
                   message, done)
        return done

    def end(self):
        """The last line, and the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failures else 0
