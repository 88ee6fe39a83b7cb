"""A kernel of bench/kernels, built in the three ways and run with some number of threads: for bench/run and others."""
import harness

DIRECTORY = harness.ROOT / "bench" / "kernels"
# Those that divide the same work among any number of threads, and are therefore also measured with four.
WIDER = (
    "aos",
    "blocked_lu",
    "btree",
    "containers",
    "hashjoin",
    "kmeans",
    "rays",
    "redblack",
    "steal",
    "swaps",
    "tree",
)


def sources():
    return sorted([*DIRECTORY.glob("*.c"), *DIRECTORY.glob("*.cpp")], key=lambda s: s.stem)


def compile_command(tools, kind, source, program):
    compiler = tools.cxx(kind) if source.suffix == ".cpp" else tools.cc(kind)
    return compiler + harness.FLAGS + [source, "-o", program, "-lm"]


class Build:
    """The programs made of one source."""

    def __init__(self, source):
        self.name, self.source = source.stem, source
        self.programs, self.notes = {}, {}

    def make(self, tools, directory):
        """Yields a message for each build that failed."""
        for kind in harness.KINDS:
            if kind not in tools.have:
                self.notes[kind] = "not built"
                continue
            program = directory / f"{self.name}.{kind}"
            log = directory / f"{self.name}.{kind}.log"
            try:
                harness.build(compile_command(tools, kind, self.source, program), log)
                self.programs[kind] = program
            except harness.Failure as failure:
                self.notes[kind] = str(failure)
                yield f"{self.name}: {kind}: {failure}\n{log.read_text(errors='replace').rstrip()}"


class Case:
    """A kernel with its arguments: what becomes a row."""

    def __init__(self, build, threads, scale, volume=1, title=None):
        self.build, self.threads = build, threads
        self.arguments = [threads, scale, volume]
        self.title = title or build.name
        self.samples = {kind: [] for kind in harness.KINDS}
        self.notes = {}
        self.over = {}
        self.expected = None

    def note(self, kind):
        return self.build.notes.get(kind) or self.notes.get(kind)

    def run(self, meter, kind, timeout):
        """One sample; returns a message if this build of the kernel is to be abandoned."""
        if self.note(kind):
            return None
        err = b""
        try:
            sample, status, out, err = meter.run(
                [self.build.programs[kind], *self.arguments], timeout=timeout, env=harness.environment(kind)
            )
            if status == harness.RACED:
                raise harness.Failure("false alarm")
            if status:
                raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
            if kind == "native" and self.expected is None:
                self.expected = out
            if out != self.expected:
                raise harness.Failure("wrong output")
        except harness.TimedOut:
            self.notes[kind], self.over[kind] = f"over {timeout} s", timeout
            return f"{self.title}: {kind}: stopped after {timeout} s"
        except harness.Failure as failure:
            self.notes[kind] = str(failure)
            return f"{self.title}: {kind}: {failure}\n{err.decode(errors='replace').rstrip()}"
        self.samples[kind].append(sample)
        return None

    def cell(self, kind):
        """Medians; for a stopped run, the time it had run at least."""
        if self.note(kind):
            return {"note": self.note(kind), **({"over": self.over[kind]} if kind in self.over else {})}
        return harness.median_cell(self.samples[kind])

    def row(self):
        cells = {kind: self.cell(kind) for kind in harness.KINDS}
        return {"name": self.title, "threads": self.threads, "cells": cells}


def failed(rows, have):
    """Whether a build failed, or a run did; not if one only took too long, which its row says."""
    cells = [c for row in rows for kind, c in row["cells"].items() if kind in have]
    return any("note" in c and "over" not in c for c in cells)
