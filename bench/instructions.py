"""How many instructions a program executes, as callgrind counts them: for bench/asleep and bench/caper --count.

With one thread they are the same in every run, or nearly, however busy the machine is.
"""
import re
import shutil
import subprocess

import harness


def can_count():
    return shutil.which("valgrind") is not None


def count(argv, before=(), out="/dev/null"):
    """Of one run; `before` is a command that runs it, and `out` where callgrind's profile goes."""
    valgrind = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}")
    done = subprocess.run(
        [str(a) for a in (*before, *valgrind, *argv)], capture_output=True, text=True, check=False
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise harness.Failure("cannot be counted")
    return int(collected[1])
