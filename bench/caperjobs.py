"""How a program is run by `deadheat caper`: in some configuration, with some state. For bench/caper and its --sound."""
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

import capershare
import harness
import jobs
import kernel

@dataclasses.dataclass(frozen=True)
class Configuration:
    """How a program is run: as it is, or a Caper build; and that by itself, or by the command with these flags."""

    name: str
    kind: str = "native"
    flags: tuple = None
    fresh: bool = False  # with a state of its own, which nothing is in
    every: int = 1  # how many rounds it is until its next turn


PLAIN, AGAIN = Configuration("plain"), Configuration("plain again")
STEADY = Configuration("steady state", "caper", ())
ALIAS = Configuration("alias analysis", "alias", ("--analysis=alias",), every=4)


class States:
    """Where states are: one for each program, and one that is always new."""

    def __init__(self, tools, directory):
        self.deadheat, self.directory, self.known = tools.deadheat, directory, {}

    def of(self, program):
        return self.known.setdefault(program, self.directory / f"{len(self.known)}.state")

    def before(self, configuration, program):
        """The command that runs a program; nothing if it runs by itself."""
        if configuration.flags is None:
            return ()
        state = self.of(program)
        if configuration.fresh:
            state = self.directory / "fresh.state"
            state.unlink(missing_ok=True)
        return (self.deadheat, "caper", "--quiet", *configuration.flags, f"--state={state}", f"--program={program}", "--")

    def status(self, program):
        argv = [self.deadheat, "caper", "status", "--format=json", f"--state={self.of(program)}", program]
        return json.loads(harness.answer(argv, "no status"))

    def summed(self, key):
        """A number of the status, over all programs that have run."""
        return sum(self.status(program)[key] for program in self.known)


def shares(bench, states, programs, directory):
    """The same of any program: of its executables, that which counts and the Caper build."""
    sums, sound, dynamic = {}, set(), set()
    for counting, caper in programs:
        for place, times in capershare.counted(counting, directory).items():
            sums[place] = sums.get(place, 0) + times
        both = capershare.sites(bench.tools.deadheat, states.of(caper), caper)
        sound |= both[0]
        dynamic |= both[1]
    return capershare.shares(sums, sound, dynamic)


class RealJob(jobs.Job):
    """A build of a real program, started in some configuration."""

    configuration = PLAIN
    states = None
    accesses = None  # of a build that counts: where to

    def start(self, argv, **options):
        before = self.states.before(self.configuration, pathlib.Path(argv[0])) if self.states else ()
        env = dict(harness.environment("native"), **({"ACCESSES": str(self.accesses)} if self.accesses else {}))
        self.report.unlink(missing_ok=True)
        with open(self.report, "wb") as err:
            options = {"stdout": err, "cwd": self.scratch, **options}
            return self.bench.meter.start(argv, before=before, stderr=err, env=env, **options)

    def finish(self, process):
        sample, status, out, _ = self.bench.meter.finish(process, self.limit)
        if status:
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        self.output = out
        return sample


class Kernel:
    """A kernel of bench/kernels with two threads. Its builds are kept."""

    def __init__(self, bench, source, arguments):
        self.bench, self.source, self.arguments, self.name = bench, source, arguments, source.stem
        self.states, self.expected = bench.new_states(), None

    def program(self, kind):
        path = self.bench.work / f"{self.name}.{kind}"
        made = path.stat().st_mtime if path.exists() else 0
        if made < max(self.source.stat().st_mtime, self.bench.tools.changed(kind)):
            path.unlink(missing_ok=True)
            harness.build(kernel.compile_command(self.bench.tools, kind, self.source, path), self.bench.work / "log")
        return path

    def build(self, kinds):
        for kind in kinds:
            self.program(kind)

    def counting(self):
        """The build that counts accesses (bench/accesses.c)."""
        path, tools = self.bench.directory / f"{self.name}.counting", self.bench.tools
        command = kernel.compile_command(tools, "native", self.source, path)
        counter = capershare.counter(tools, self.bench.directory)
        harness.build([*command, *capershare.FLAGS, counter], self.bench.work / "log")
        return path

    def shares(self):
        """Of the accesses of a run, the part at sites in a pair of sound, and of dpPairs."""
        program, directory = self.counting(), pathlib.Path(tempfile.mkdtemp(dir=self.bench.directory))
        subprocess.run(
            [str(a) for a in (program, *self.arguments)],
            env=dict(os.environ, ACCESSES=str(directory)),
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=20 * self.bench.options.timeout,
        )
        return shares(self.bench, self.states["caper"], [(program, self.program("caper"))], directory)

    def run(self, configuration):
        program, states = self.program(configuration.kind), self.states.get(configuration.kind)
        sample, status, out, _ = self.bench.meter.run(
            [program, *self.arguments],
            before=states.before(configuration, program) if states else (),
            timeout=self.bench.options.timeout,
            env=harness.environment("native"),
        )
        if status:
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        self.expected = self.expected or out
        if out != self.expected:
            raise harness.Failure("wrong output")
        return sample


class Real:
    """A real program of bench/real."""

    def __init__(self, bench, program):
        self.bench, self.work, self.name, self.expected = bench, program, program.name, None
        self.states, self.jobs = bench.new_states(), {}

    def build(self, kinds):
        if not (self.bench.real.work / "src" / self.work.package / ".unpacked").exists():
            raise harness.Failure("no source")
        for kind in kinds:
            job = self.jobs[kind] = RealJob(self.bench.real, self.work, kind)
            job.states, job.limit = self.states.get(kind), self.bench.options.timeout
            job.build()

    def shares(self):
        """As of a kernel. The executables of the two builds have the same places in their trees."""
        job = RealJob(self.bench.real, self.work, "counting")
        counter = capershare.counter(self.bench.tools, self.bench.real.work)
        # A step that only compiles does not use the counter, which a build with -Werror may not forgive.
        flags = " ".join([*capershare.FLAGS, "-Wno-unused-command-line-argument", f"-Wl,{counter}"])
        job.cc, job.cxx = f"{job.cc} {flags}", f"{job.cxx} {flags}"
        job.accesses = pathlib.Path(tempfile.mkdtemp(dir=self.bench.directory))
        job.limit = 20 * self.bench.options.timeout
        job.build()
        self.work.run(job)
        states, tree = self.states["caper"], self.jobs["caper"].tree
        programs = [(job.tree / caper.relative_to(tree), caper) for caper in states.known]
        return shares(self.bench, states, programs, job.accesses)

    def run(self, configuration):
        job = self.jobs[configuration.kind]
        job.configuration = configuration
        sample, out = self.work.run(job)
        self.expected = self.expected if self.expected is not None else out
        if out != self.expected:
            raise harness.Failure("output differs")
        return sample
