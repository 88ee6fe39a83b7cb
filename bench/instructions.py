"""Instructions that a kernel of bench/kernels executes, of clang's own link-time optimisation and as a field build: for
bench/asleep and bench/crowd.

They are counted by callgrind, and are the same in every run of a kernel with one thread, whatever else the machine does.
"""
import os
import re
import subprocess

import harness
import kernel

PLAIN = ["-flto=full", "-fuse-ld=lld-19", "-fno-finite-loops"]  # a field build has these, too


def builds(tools, source, directory):
    """The program of clang's own link-time optimisation, and the field build."""
    for kind, extra in (("native", PLAIN), ("field", [])):
        program = directory / f"{source.stem}.{kind}"
        command = kernel.compile_command(tools, kind, source, program)
        harness.build([*command, *extra], directory / "log")
        yield program


def count(program, scale, environment=None):
    argv = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), "1", str(scale), "1"]
    done = subprocess.run(argv, env=dict(os.environ, **(environment or {})), capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise harness.Failure("cannot be counted")
    return int(collected[1])
