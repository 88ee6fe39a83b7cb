"""How many instructions a program executes, as callgrind counts them: for bench/asleep, bench/caper --count and
bench/crowd.

With one thread they are the same in every run, or nearly, however busy the machine is.
"""
import os
import re
import shutil
import subprocess

import harness
import kernel

PLAIN = ["-flto=full", "-fuse-ld=lld-19", "-fno-finite-loops"]  # a field build has these, too


def can_count():
    return shutil.which("valgrind") is not None


def builds(tools, source, directory):
    """The program of clang's own link-time optimisation, and the field build."""
    for kind, extra in (("native", PLAIN), ("field", [])):
        program = directory / f"{source.stem}.{kind}"
        command = kernel.compile_command(tools, kind, source, program)
        harness.build([*command, *extra], directory / "log")
        yield program


def count(argv, before=(), out="/dev/null", environment=None):
    """In one run; `before` is a command that runs it, and `out` where callgrind's profile goes."""
    valgrind = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}")
    done = subprocess.run(
        [str(a) for a in (*before, *valgrind, *argv)],
        env=dict(os.environ, **(environment or {})),
        capture_output=True,
        text=True,
        check=False,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise harness.Failure("cannot be counted")
    return int(collected[1])
