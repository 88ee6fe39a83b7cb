"""What the scripts that measure share: the three builds, measured runs, medians, the results file.

A result is a `cell` (a dictionary): wall and processor seconds and peak resident kilobytes, each the
median of its samples, or a `note` that says why there is none. A `row` is one program: {"name", "cells":
{kind: cell}}. Failures stay in their cell: one program that does not build never costs the results of the
others.
"""
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "benchmarks.json"

KINDS = ("native", "deadheat", "tsan")
OURS = ("deadheat", "field", "caper", "alias")
SERVICES = ("deadheat-hive", "deadheat-agent")  # programs that have no part in a build
FLAGS = ["-O2", "-g", "-pthread"]
RACED = 66  # exit status of both detectors when they found a race


class Failure(Exception):
    """Something that spoils one cell; the message is what the cell shows."""


class TimedOut(Failure):
    """A run that did not end in time."""


class Tools:
    """The compilers of the three builds. Flags are the same for all, but for tsan's -fsanitize=thread. Two more carry a
    table of pairs: "field", which can be chased, "caper", which also asks what has escaped, and "alias", which tells of each access."""

    def __init__(self):
        build = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
        self.clang = os.environ.get("CLANG", "clang-19")
        self.clangxx = os.environ.get("CLANGXX", "clang++-19")
        self.deadheat = build / "bin" / "deadheat"
        self.have = ["native", "tsan"]
        if os.access(build / "bin" / "deadheat-cc", os.X_OK):
            self.have.insert(1, "deadheat")

    def cc(self, kind):
        return [f"{self.deadheat}-cc", *self.extra(kind)] if kind in OURS else [self.clang, *self.extra(kind)]

    def cxx(self, kind):
        return [f"{self.deadheat}-c++", *self.extra(kind)] if kind in OURS else [self.clangxx, *self.extra(kind)]

    def changed(self, kind):
        """When what such a build is made with has changed last: of a field build, what is linked into it."""
        library = self.deadheat.parent.parent / "lib" / "deadheat"
        if kind == "field":
            parts = [library / "libdeadheat-field.a"]
        else:
            parts = [p for p in library.glob("*") if p.name not in SERVICES] if kind in OURS else []
        return max((p.stat().st_mtime for p in parts if p.is_file()), default=0)

    @staticmethod
    def extra(kind):
        return {
            "tsan": ["-fsanitize=thread"],
            "field": ["--dh-mode=field"],
            "caper": ["--dh-mode=caper"],
            "alias": ["--dh-mode=caper", "--dh-alias"],
        }.get(kind, [])


class Progress:
    """One line on a terminal that says what is going on; plain lines for failures; silence otherwise."""

    def __init__(self):
        self.live = sys.stderr.isatty()

    def say(self, text):
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{text[:width]}", end="", file=sys.stderr, flush=True)

    def line(self, text):
        self.say("")
        print(text, file=sys.stderr, flush=True)


class Meter:
    """Runs commands through bench/measure.c, which it compiles into `directory` first."""

    def __init__(self, tools, directory):
        self.directory = pathlib.Path(directory)
        self.program = self.directory / "measure"
        source = ROOT / "bench" / "measure.c"
        subprocess.run([tools.clang, "-O2", str(source), "-o", str(self.program)], check=True)

    def start(self, argv, before=(), **options):
        """Begin a measured run; give what this returns to finish(). `before` is a command that runs the one measured."""
        fd, result = tempfile.mkstemp(dir=self.directory)
        os.close(fd)
        process = subprocess.Popen([str(a) for a in (*before, self.program, result, *argv)], **options)
        process.result_file = result
        return process

    @staticmethod
    def finish(process, timeout):
        """Wait; returns a sample and the exit status of the command (negative: the signal that ended it)."""
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            process.kill()  # the command dies with its measurer
            process.communicate()
            os.unlink(process.result_file)
            raise TimedOut("timeout") from late
        text = pathlib.Path(process.result_file).read_text(encoding="ascii").split()
        os.unlink(process.result_file)
        if len(text) != 4:
            raise Failure("cannot run")
        sample = {"wall": float(text[0]), "cpu": float(text[1]), "rss": int(text[2])}
        return sample, os.waitstatus_to_exitcode(int(text[3])), out, err

    def run(self, argv, timeout=600, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return self.finish(self.start(argv, **options), timeout)


def environment(kind, records=None):
    """The environment of a run: default settings of either detector, and where raw race records go."""
    env = dict(os.environ)
    for name in ("DEADHEAT_OPTIONS", "TSAN_OPTIONS"):
        env.pop(name, None)
    if kind == "deadheat" and records:
        env["DEADHEAT_OPTIONS"] = f"output={records}"
    return env


def build(argv, log, cwd=None, env=None):
    """Run one build step, its output appended to the file `log`."""
    with open(log, "ab") as f:
        f.write((" ".join(str(a) for a in argv) + "\n").encode())
        f.flush()
        done = subprocess.run(
            [str(a) for a in argv],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=f,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise Failure("build failed")


def answer(argv, failed):
    """What a command prints; if it fails, a Failure with these words."""
    done = subprocess.run(
        [str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    if done.returncode:
        raise Failure(failed)
    return done.stdout


def median_cell(samples):
    cell = {key: statistics.median(s[key] for s in samples) for key in ("wall", "cpu", "rss")}
    cell["runs"] = len(samples)
    return cell


def machine():
    """Facts about where the numbers come from; nothing that names the machine or its user."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))
    version = subprocess.run(
        [Tools().clang, "--version"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory[1]) / 2**20),
        "kernel": platform.release(),
        "system": release,
        "clang": version.splitlines()[0].strip(),
    }


def last_run():
    """Where the results of the last run are kept, written to the documentation or not: in the build directory."""
    return pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bench.json"


def load_results():
    if RESULTS.exists():
        return json.loads(RESULTS.read_text(encoding="utf-8"))
    return {}


def save_results(part, data, path=RESULTS):
    """Replace one part (kernels, real or traces) of the results file, and leave the others as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    results[part] = data
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
