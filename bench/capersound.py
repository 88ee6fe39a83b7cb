"""bench/caper --sound: each race that FastTrack sees in a real program's work must be in dpPairs after Caper runs of it."""
import harness
import jobs
import races
from caperjobs import STEADY, RealJob

RUNS = 3  # of each build


def works(program):
    """What a program is made to do, by name: that in which it races, if there is such."""
    return getattr(program, "races", {program.name: lambda program, job: program.run(job)})


def observed(bench, program, name, work):
    """The races of all runs, as {pair of lines: variable}; and how many are not the program's alone."""
    job = jobs.Job(bench.real, program, "deadheat")
    job.build()
    job.records.unlink(missing_ok=True)
    for n in range(RUNS):
        bench.progress.say(f"{name}: fasttrack, run {n + 1}")
        work(program, job)
    return races.observed(bench.tools.deadheat, job.records)


def row(bench, program, name, work):
    if program.package and not (bench.real.work / "src" / program.package / ".unpacked").exists():
        return {"name": name, "note": "no source"}
    bench.progress.say(f"{name}: building")
    found, outside = observed(bench, program, name, work)
    job = RealJob(bench.real, program, "caper")
    job.configuration, job.states = STEADY, bench.new_states()["caper"]
    job.build()
    for n in range(RUNS):
        bench.progress.say(f"{name}: caper, run {n + 1}")
        work(program, job)
    sets = {}
    for executable, state in job.states.known.items():
        for pair, where in races.sets_of(bench.tools.deadheat, state, executable, list(found)).items():
            sets[pair] = min(sets.get(pair, "none"), where, key=races.SETS.index)
    return {"name": name, "races": {p: {"on": on, "set": sets[p]} for p, on in found.items()}, "outside": outside}


def rows(bench, program):
    for name, work in works(program).items():
        try:
            yield row(bench, program, name, work)
        except harness.Failure as failure:
            bench.progress.line(f"{name}: {failure}")
            yield {"name": name, "note": str(failure)}
