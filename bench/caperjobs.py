"""How a program is run by `deadheat caper`: in some configuration, with some state. For bench/caper and its --sound."""
import dataclasses
import json
import pathlib

import harness
import jobs


@dataclasses.dataclass(frozen=True)
class Configuration:
    """How a program is run: as it is, or a Caper build; and that by itself, or by the command with these flags."""

    name: str
    kind: str = "native"
    flags: tuple = None
    fresh: bool = False  # with a state of its own, which nothing is in


PLAIN = Configuration("plain")
STEADY = Configuration("steady state", "caper", ())


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

    def escaped(self):
        """How many sites have escaped, in all programs that have run."""
        return sum(self.status(program)["escaped_sites"] for program in self.known)


class RealJob(jobs.Job):
    """A build of a real program, started in some configuration."""

    configuration = PLAIN

    def start(self, argv, **options):
        before = self.bench.states.before(self.configuration, pathlib.Path(argv[0]))
        self.report.unlink(missing_ok=True)
        with open(self.report, "wb") as err:
            options = {"stdout": err, "cwd": self.scratch, **options}
            return self.bench.meter.start(
                argv, before=before, stderr=err, env=harness.environment("native"), **options
            )

    def finish(self, process):
        sample, status, out, _ = self.bench.meter.finish(process, self.limit)
        if status:
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        self.output = out
        return sample
