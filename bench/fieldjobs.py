"""How a program is run by `deadheat chase`: in some configuration, with some pair. For bench/field and bench/chase."""
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import threading

import harness
import jobs


@dataclasses.dataclass(frozen=True)
class Configuration:
    """How a program is run: with the flags of a chase of one pair, or none."""

    name: str
    flags: tuple = None
    rmax: float = None  # for the bar
    kind: str = "native"  # of the build: native, or field
    every: int = 1  # how many rounds it is until its next turn
    first: int = 0  # the round of its first: no round has all of them, so that each ends soon

    @property
    def may_be_refused(self):
        """Synchronisation that cannot be followed is no failure of the measurement."""
        return self.flags is not None and any(flag.startswith("--analysis") for flag in self.flags)

    def argv(self, deadheat, pair, argv):
        if self.flags is None:
            return argv
        pair = ("--pair", pair) if pair else ()
        return [deadheat, "chase", "--stats", "--exitcode=0", "--source=0", *self.flags, *pair, "--", *argv]


PLAIN, AGAIN = Configuration("plain"), Configuration("plain again")
STATS = re.compile(rb"waited ([\d.]+) ms of ([\d.]+) ms .*? (\d+) traps; .*; ([\d.]+) ms of CPU time")
T_MIN = 1000  # ms: the chase grants shorter runs the budget of so long a one


def refine(sample, err):
    """A sample of a chased run, with what the command itself has told about it."""
    said = STATS.findall(err)
    if not said:
        raise harness.Failure("not chased: " + (err.decode(errors="replace").strip().splitlines() or ["?"])[-1][:80])
    waited, total, traps, cpu = map(float, said[-1])
    return dict(sample, wall=total / 1e3, cpu=cpu / 1e3, share=waited / max(total, T_MIN), traps=traps)


class Pairs:
    """The pairs that can be chased in all builds of a program, in a random order that is always the same."""

    TRIES = 60
    PER_VARIABLE, MOST = 20, 5000

    def __init__(self, deadheat, wanted):
        self.deadheat, self.wanted = deadheat, wanted

    def of(self, findings, *programs):
        findings = [f for f in findings if all(a["stack"] and "line" in a["stack"][0] for a in f["accesses"])]
        random.Random(1).shuffle(findings)
        found = []
        for finding in findings[: self.TRIES]:
            pair = ":".join(self.position(access) for access in finding["accesses"])
            # What one build has an instruction for, another may have merged with something else.
            if pair not in found and all(self.is_in(pair, program) for program in programs):
                found.append(pair)
            if len(found) == self.wanted:
                break
        return found

    def is_in(self, pair, program):
        argv = [self.deadheat, "chase", "--list", "--pair", pair, "--", program]
        done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    @staticmethod
    def position(access):
        frame = access["stack"][0]
        kind = f":{access['kind']}" if access["kind"] in ("read", "write") else ""
        return f"{pathlib.Path(frame['file']).name}:{frame['line']}:{frame.get('column') or '*'}{kind}"

    def static(self, *argv):
        """The findings of the static analysis, the first few thousands of them: a large program has millions."""
        argv = [str(a) for a in (self.deadheat, "static", "--format=json", f"--limit={self.PER_VARIABLE}", *argv)]
        found = []
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            for line in process.stdout:
                if line.startswith(b'{"provenance"'):
                    found.append(json.JSONDecoder().raw_decode(line.decode())[0])
                if len(found) == self.MOST:
                    process.kill()
                    break
        if process.returncode and len(found) < self.MOST:
            raise harness.Failure("no static analysis")
        return found


class RealJob(jobs.Job):
    """A build of a real program, started in some configuration."""

    configuration, pair = PLAIN, None
    broken_off = False
    started = None  # the program that was, last
    late = None  # a timer that ends what has been started: the client of a server would wait for long
    chased = ()  # the samples of the processes that were chased, since somebody emptied it

    def start(self, argv, **options):
        deadheat = self.bench.tools.deadheat
        env = harness.environment("native")
        self.started = argv[0]
        self.report.unlink(missing_ok=True)
        with open(self.report, "wb") as err:
            options = {"stdout": err, "cwd": self.scratch, **options}
            process = self.bench.meter.start(
                self.configuration.argv(deadheat, self.pair, argv), stderr=err, env=env, **options
            )
        self.late = threading.Timer(self.limit, self.break_off, (process,))
        self.late.daemon = True
        self.late.start()
        return process

    def break_off(self, process):
        if process.poll() is None:
            self.broken_off = True
            process.kill()  # the command dies with its measurer

    def within_limit(self, work):
        """Runs it; any failure because a process was killed counts as a timeout."""
        self.broken_off = False
        try:
            return work()
        except harness.Failure as failure:
            raise harness.TimedOut("timeout") if self.broken_off else failure
        finally:
            if self.late:
                self.late.cancel()

    def finish(self, process):
        sample, status, out, _ = self.bench.meter.finish(process, self.limit + 5)
        self.late.cancel()
        if status:
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        self.output = out
        if self.configuration.flags is None:
            return sample
        self.chased = (*self.chased, refine(sample, self.report.read_bytes()))
        return self.chased[-1]
