"""A build of a real program, made from unmodified source and put to work: what the scripts about them share.

The work directory ($DEADHEAT_BENCH_DIR, by default deadheat-bench in the user's cache directory) keeps
sources, builds, build logs and, for every program, what the detectors reported: KIND/NAME.jsonl
(deadheat) and KIND/NAME.txt.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import harness

HERE = pathlib.Path(__file__).resolve().parent


def work_directory():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(
        os.environ.get("DEADHEAT_BENCH_DIR") or pathlib.Path(cache) / "deadheat-bench"
    ).resolve()


class Job:
    """One build of one program, as programs.py sees it."""

    def __init__(self, bench, program, kind):
        self.bench, self.program, self.kind = bench, program, kind
        self.quick = bench.options.quick
        self.cc, self.cxx = (" ".join(f(kind)) for f in (bench.tools.cc, bench.tools.cxx))
        self.tree = bench.work / "build" / kind / program.name
        self.native_tree = bench.work / "build" / "native" / program.name
        self.scratch = bench.work / "scratch" / kind / program.name
        reports = bench.work / "reports" / kind
        for directory in (self.tree.parent, self.scratch, reports):
            directory.mkdir(parents=True, exist_ok=True)
        self.log = self.tree.parent / f"{program.name}.log"
        self.stamp = self.tree / ".built"
        self.records, self.report = reports / f"{program.name}.jsonl", reports / f"{program.name}.txt"
        self.samples, self.note, self.over = [], None, None
        self.limit = 300  # seconds a run may take

    def stale(self):
        """Whether the tree must be built: never built, or deadheat has changed since."""
        if self.bench.options.rebuild or not self.stamp.exists():
            return True
        return self.bench.tools.changed(self.kind) > self.stamp.stat().st_mtime

    def build(self):
        if not self.stale():
            return
        shutil.rmtree(self.tree, ignore_errors=True)
        if self.program.package:
            shutil.copytree(self.bench.work / "src" / self.program.package, self.tree, symlinks=True)
        else:
            self.tree.mkdir()
        self.log.write_bytes(b"")
        self.program.build(self)
        self.stamp.touch()

    def step(self, argv):
        # Found races must not fail what the build itself runs (generators, configure tests).
        env = dict(
            os.environ, DEADHEAT_OPTIONS="exitcode=0:report=0", TSAN_OPTIONS="exitcode=0:report_bugs=0"
        )
        harness.build(argv, self.log, cwd=self.tree, env=env)

    def start(self, argv, **options):
        """A measured run; standard error goes to the report file, raw records of deadheat to theirs."""
        with open(self.report, "ab") as err:
            options.setdefault("stdout", err)
            options.setdefault("cwd", self.scratch)
            fresh = self.records.with_suffix(".part")
            fresh.unlink(missing_ok=True)
            return self.bench.meter.start(
                argv, stderr=err, env=harness.environment(self.kind, fresh), **options
            )

    def finish(self, process):
        sample, status, out, _ = self.bench.meter.finish(process, self.limit)
        fresh = self.records.with_suffix(".part")
        if fresh.exists():
            with open(self.records, "ab") as f:
                f.write(fresh.read_bytes())
            fresh.unlink()
        if status not in (0, harness.RACED):
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        self.output = out
        return sample

    def measure(self, argv, **options):
        return self.finish(self.start(argv, **options))

    def measure_output(self, argv):
        sample = self.measure(argv, stdout=subprocess.PIPE)
        return sample, self.output

    def input(self, megabytes):
        """The compressors' input, made once."""
        path = self.bench.work / f"input-{megabytes}"
        if not path.exists():
            with open(path, "wb") as f:
                subprocess.run([self.helper("data.c"), str(megabytes)], stdout=f, check=True)
        return path

    def beside(self, argv):
        """A plain program that has to run meanwhile, and is not measured."""
        return subprocess.Popen(
            [str(a) for a in argv], cwd=self.scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def helper(self, source):
        """One of our own programs that runs alongside the measured one, always built natively."""
        path = self.bench.work / source.removesuffix(".c")
        if not path.exists() or path.stat().st_mtime < (HERE / source).stat().st_mtime:
            subprocess.run([self.bench.tools.clang] + harness.FLAGS + [HERE / source, "-o", path], check=True)
        return path

    def races(self):
        """How many distinct races were reported in all runs so far."""
        text = self.report.read_text(errors="replace") if self.report.exists() else ""
        if self.kind == "tsan":
            return len(set(re.findall(r"^SUMMARY: ThreadSanitizer: (.*)$", text, re.MULTILINE)))
        if self.kind == "deadheat" and self.records.exists():
            return count_races(self.bench.tools, self.records)
        return 0

    def attempt(self, action):
        """Do something for this job unless it has failed before; a failure becomes the note of its cell."""
        if self.note:
            return None
        try:
            return action()
        except harness.TimedOut:
            self.note, self.over = f"over {self.limit} s", self.limit
            self.bench.progress.line(f"{self.program.name}: {self.kind}: stopped after {self.limit} s")
        except harness.Failure as failure:
            self.note = str(failure)
            self.bench.progress.line(
                f"{self.program.name}: {self.kind}: {failure} (see {self.log.parent.parent})"
            )
        return None

    def cell(self):
        if self.note:
            return {"note": self.note, **({"over": self.over} if self.over else {})}
        cell = harness.median_cell(self.samples)
        if self.kind != "native":
            cell["races"] = self.races()
        return cell


def count_races(tools, records):
    done = subprocess.run(
        [tools.deadheat, "report", "--all", "--format=json", records],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    try:
        return len(json.loads(done.stdout)["findings"])
    except (ValueError, KeyError):
        lines = records.read_text(errors="replace").splitlines()
        return sum('"type":"race"' in line for line in lines)


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = work_directory()
        self.work.mkdir(parents=True, exist_ok=True)
        self.tools = harness.Tools()
        self.progress = harness.Progress()
        self.meter = harness.Meter(self.tools, self.work)

    def fetch(self, packages):
        if not packages:
            return
        self.progress.say("fetching sources")
        log = self.work / "fetch.log"
        with open(log, "wb") as f:
            done = subprocess.run(
                [HERE / "fetch", self.work / "src", *packages],
                stdin=subprocess.DEVNULL,
                stdout=f,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            self.progress.line(f"bench/real/run: not every source could be had (see {log})")
