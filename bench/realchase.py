"""Which races that FastTrack reports in a real program `deadheat chase` confirms in the plain build, for bench/chase.

Three steps, each with what the previous one has left, until time runs out:

1. All pairs in one run: accesses at their lines take turns; a thread waits there, and hardware watchpoints see any
   other access (`--from --infer --trials=0`). First with the paper's delay and r_max, then without a limit on r_max and
   with waits that grow from turn to turn: accesses that are made once a second meet only if a thread waits for long.
2. One pair per run, in both orders, with long delays: no wait is ended by another pair's accesses.
3. One pair per run of the field build, using happens-before (`--analysis=litehb`): for accesses that never come close.

A race is identified by the functions and lines of its two accesses. An access that the compiler has merged has no line
in the plain build; there the function must suffice.
"""
import os
import pathlib
import re
import subprocess
import time

import harness
import jobs
from fieldjobs import Configuration, Pairs, RealJob

TOGETHER = (("5%", "10ms", 3), ("100%", "10ms..1s", 7))  # r_max, delay, runs
ALONE = (("100%", "200ms"), ("100%", "4s"))
SMALLER = "; a line accesses fewer bytes in the plain build"
SIZE = re.compile(r" of (\d+) bytes?")
LITEHB = ("--analysis=litehb", "--rmax=100%")
MET = re.compile(r"^  ([^:\s]+:\d+)\S* with ([^:\s]+:\d+)\S*: one after the other$", re.MULTILINE)


def frame_of(access):
    """The innermost frame that is the program's own, or None: what libc accesses is not chased."""
    return next((f for f in access["stack"] if f.get("file") and not f["file"].startswith(("/usr", "../"))), None)


class Race:
    """Two accesses, each by its function and line (None: it has no line), and the pair as --pair takes it."""

    def __init__(self, finding):
        frames = [frame_of(access) for access in finding["accesses"]]
        self.sides = self.pair = None
        self.variable = re.search(r"`([^`]+)`", finding["summary"])
        self.variable = self.variable[1] if self.variable else "memory"
        if None not in frames:
            self.sides = tuple((f.get("function"), f.get("line")) for f in frames)
            self.places = [f"{pathlib.Path(f['file']).name}:{f.get('line', '?')}" for f in frames]
        if self.sides and all(line for _, line in self.sides):
            places = [
                Pairs.position({"stack": [dict(f, column=0)], "kind": a["kind"]})
                for f, a in zip(frames, finding["accesses"])
            ]
            self.pair = (":".join(places), ":".join(reversed(places)))
        self.sizes = [access.get("size", 0) for access in finding["accesses"]]
        self.times, self.how = 0, None
        self.why = "in a library" if not self.sides else "not tried one by one" if self.pair else "reported without a line"

    def name(self):
        return f"{'-'.join(sorted(self.places))} ({self.variable})" if self.sides else self.variable

    def is_like(self, other):
        """Is a race that was confirmed this one?"""

        def same(a, b):
            return a[0] == b[0] and (a[1] == b[1] or None in (a[1], b[1]))

        if not self.sides or not other.sides:
            return False
        return any(same(self.sides[0], o[0]) and same(self.sides[1], o[1]) for o in (other.sides, other.sides[::-1]))


class Chaser:
    """The runs of one program."""

    def __init__(self, bench, real, program, work, name):
        self.bench, self.real, self.program, self.work, self.name = bench, real, program, work, name
        self.jobs, self.deadline = {}, 0
        self.records, self.runs = bench.directory / "confirmed.jsonl", 0

    def job(self, kind):
        if kind not in self.jobs:
            self.bench.progress.say(f"{self.name}: building")
            self.jobs[kind] = RealJob(self.real, self.program, kind)
            self.jobs[kind].limit = self.real.options.timeout
            self.jobs[kind].build()
        return self.jobs[kind]

    def is_late(self):
        return time.monotonic() >= self.deadline

    def races(self, records):
        return [Race(f) for f in self.bench.findings(records)] if records.exists() else []

    def wanted(self):
        """What FastTrack reports, each once. The time begins when everything is built."""
        job = jobs.Job(self.real, self.program, "deadheat")
        job.build()
        for kind in ("native", "field"):
            self.job(kind)
        self.bench.progress.say(f"{self.name}: fasttrack")
        job.records.unlink(missing_ok=True)
        self.work(self.program, job)
        found = {race.name(): race for race in self.races(job.records)}
        self.deadline = time.monotonic() + 60 * self.real.options.minutes
        return job.records, list(found.values())

    def run(self, kind, flags, pair=None):
        """One run. Returns what it has confirmed, and what the command has said."""
        job = self.job(kind)
        job.configuration, job.pair = Configuration("chase", (*flags, f"--output={self.records}")), pair
        self.records.unlink(missing_ok=True)
        self.runs += 1
        try:
            job.within_limit(lambda: self.work(self.program, job))
        except harness.Failure as failure:
            return self.races(self.records), f"{job.report.read_text(errors='replace')}\n{failure}"
        return self.races(self.records), job.report.read_text(errors="replace")


def together(chaser, file, races):
    """Returns the pairs of lines that were seen at the same bytes, though not at once."""
    met = set()
    for rmax, delay, runs in TOGETHER:
        for n in range(runs):
            left = [r for r in races if r.times < 2]
            if not left or chaser.is_late():
                break
            way = f"all pairs, {rmax}, {delay}"
            chaser.bench.progress.say(f"{chaser.name}: {way}, run {n + 1}: {len(left)} left")
            flags = (f"--from={file}", "--infer", "--trials=0", f"--delay={delay}", f"--rmax={rmax}")
            found, said = chaser.run("native", flags)
            met |= {frozenset(pair) for pair in MET.findall(said)}
            for race in left:
                if any(race.is_like(f) for f in found):
                    race.times, race.how = race.times + 1, race.how or way
    return met


REASONS = (
    ("no thread was caught at the first", "not reached"),
    ("no race:", "always ordered when it was seen (LiteHB)"),
    ("not seen", "never at the same bytes at once"),
    ("there is no code", "no such access in the machine code"),
    ("accesses no memory", "no such access in the machine code"),
    ("can be chased", "no such access in the machine code"),
)
SPEAKER = re.compile(r"^deadheat chase: ((warning|error): )?")
COUNT = re.compile(r" \d+ times?\b")


def reason(said):
    """Why a run confirmed nothing: something known, or else the last sentence. Races with the same reason share a line
    of the page, so counts are left out."""
    for words, why in REASONS:
        if words in said:
            return why
    lines = said.strip().splitlines()
    return COUNT.sub("", SPEAKER.sub("", lines[-1])) if lines else "nothing was said"


def alone(chaser, races, kind, flags, way):
    """Each pair that is left by itself."""
    for race in races:
        if race.times or not race.pair or chaser.is_late():
            continue
        chaser.bench.progress.say(f"{chaser.name}: {race.name()}: {way}")
        for pair in race.pair:
            found, said = chaser.run(kind, flags, pair)
            if found:
                race.times, race.how = race.times + 1, way
                break
            race.why = reason(said)


def is_smaller(chaser, race):
    """Does a line access fewer bytes in the plain build than FastTrack says? The compiler has merged or narrowed the access
    that is meant, or FastTrack shows another one to the same four bytes (docs/design/guarantee.md)."""
    if not race.pair:
        return False
    argv = [chaser.bench.deadheat, "chase", "--list", "--pair", race.pair[0], "--", chaser.job("native").started]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    sides = [[int(n) for n in SIZE.findall(side)] for side in done.stdout.split("second:")]
    return len(sides) == 2 and any(found and max(found) < said for found, said in zip(sides, race.sizes))


def row(bench, real, program, name, work):
    """One line of the table; work is what the program is made to do."""
    if program.package and not (real.work / "src" / program.package / ".unpacked").exists():
        return {"name": name, "note": "no source"}
    chaser = Chaser(bench, real, program, work, name)
    records, races = chaser.wanted()
    if races:
        met = together(chaser, records, races)
        for rmax, delay in ALONE:
            alone(chaser, races, "native", (f"--rmax={rmax}", f"--delay={delay}"), f"one pair, {rmax}, {delay}")
        alone(chaser, races, "field", LITEHB, "LiteHB")
        for race in races:
            if race.sides and not race.times and frozenset(race.places) in met:
                race.why += "; seen at the same bytes one after the other"
            if not race.times and is_smaller(chaser, race):
                race.why += SMALLER
    how = {}
    for race in races:
        how[race.how or "missed"] = how.get(race.how or "missed", 0) + 1
    once, twice = (sum(r.times >= n for r in races) for n in (1, 2))
    return {
        "name": name,
        "pairs": len(races),
        "each": [],
        "fasttrack": len(races),
        "once": once,
        "twice": twice,
        "both": once,
        "both_twice": twice,
        "missed": sorted(r.name() for r in races if not r.times),
        "why": {r.name(): r.why for r in races if not r.times},
        "how": how,
        "runs": chaser.runs,
        "minutes": real.options.minutes,
        "load": os.getloadavg()[1],
        "refuted": [],
    }
