"""What one user notices of a hive, for bench/crowd --overhead and --idle: time in rounds, what the agents have accounted for,
and instructions.

Each program has one user, whose agent runs all the time, as it would: a task is known when the program begins, the next one
comes after its result, and the budget is carried over from one run to the next. When a candidate has its verdict, the hive is
told to forget that, so that there is always something to try.
"""
import contextlib
import os
import pathlib
import statistics
import time

import crowdjobs
import harness
import instructions
import kernel
import rounds

CONFIGURATIONS = ("plain again", "asleep", "idle", "validating", "tsan")
KIND_OF = {"plain": "native", "plain again": "native", "tsan": "tsan"}  # of the others: field
TSAN_EVERY = 6  # rounds: it takes longer than all others together, and no bar is about it
NO_CANDIDATE = "no candidate"
MORE = {"tsan": ("TSAN_OPTIONS", "report_bugs=0")}


class User:
    """The rounds of one program."""

    def __init__(self, bench, name, make, stack):
        self.bench, self.name, self.make, self.stack = bench, name, make, stack
        self.ratios, self.plain, self.note, self.case, self.hive = {}, [], None, None, None
        self.directory = bench.directory / f"{name}.user"
        self.environments = {}

    def prepare(self, strange):
        """strange: a hive that does not know the build, so that there is nothing to try, and its key."""
        try:
            self.case = self.make()
            self.bench.progress.say(f"{self.name}: building")
            for kind in crowdjobs.KINDS:
                self.case.program(kind)
            self.case.lengthen()
            self.hive = crowdjobs.Hive(self.bench.tools.deadheat, self.directory / "hive")
            key = self.hive.add(self.name, self.case.program("field"))
            if self.hive.empty:
                raise harness.Failure(NO_CANDIDATE)
            self.stack.enter_context(self.hive)
            self.begin("idle", *strange)
            self.begin("validating", self.hive, key)
        except harness.Failure as failure:
            self.fail(failure)

    def begin(self, configuration, hive, key):
        directory = self.directory / configuration
        agent = crowdjobs.Agent(self.bench.tools.deadheat, hive, key, self.case.program("field"), directory)
        self.stack.enter_context(agent)
        agent.wait_for_answer(hive)
        self.environments[configuration] = agent.environment

    def fail(self, failure):
        self.note = str(failure)
        self.bench.progress.line(f"{self.name}: {failure}")

    def take(self, configuration, n):
        nobody = self.directory / "nobody"
        nobody.mkdir(mode=0o700, exist_ok=True)
        environment = dict(self.environments.get(configuration, {"XDG_RUNTIME_DIR": str(nobody)}))
        environment.update([MORE[configuration]] if configuration in MORE else [])
        return self.case.run(KIND_OF.get(configuration, "field"), n, environment)

    def round(self, n):
        if self.note:
            return
        taken = {}
        wanted = [c for c in ("plain", *CONFIGURATIONS) if c != "tsan" or n % TSAN_EVERY == 0]
        for configuration in rounds.turns(wanted, n):
            self.bench.progress.say(f"{self.name}, round {n + 1}: {configuration}")
            try:
                taken[configuration] = self.take(configuration, n)
            except harness.Failure as failure:
                # A race that was made to happen may well crash the program: then this round says nothing.
                self.bench.progress.line(f"{self.name}: {configuration}: {failure}")
        self.hive.forget_verdicts(self.name)
        if "plain" not in taken or "plain again" not in taken:
            return
        self.plain.append(taken["plain"]["wall"])
        for configuration in set(CONFIGURATIONS) & set(taken):
            beside = [taken["plain"], taken["plain again"]] if configuration != "plain again" else [taken["plain"]]
            wall = statistics.geometric_mean([max(b["wall"], 1e-3) for b in beside])
            self.ratios.setdefault(configuration, []).append(taken[configuration]["wall"] / wall)

    def row(self):
        if not self.ratios:
            return {"name": self.name, "note": self.note or "not measured"}
        told = self.hive.cost(self.name)
        kept = crowdjobs.untold(self.directory / "validating")
        run, waited = (told[k] + kept[k] for k in ("run_us", "waited_us"))
        return {
            "name": self.name,
            "plain": statistics.median(self.plain),
            "rounds": len(self.plain),
            "cells": {c: rounds.robust(r) for c, r in self.ratios.items()},
            "accounted": {"run_s": run / 1e6, "waited_s": waited / 1e6, "results": told["results"]},
        }


def measure(bench, cases, names):
    options = bench.options
    with contextlib.ExitStack() as stack:
        strange = crowdjobs.Hive(bench.tools.deadheat, bench.directory / "strange.hive")
        key = strange.add("strange", crowdjobs.Strange(bench).program("field"))
        stack.enter_context(strange)
        rows = [User(bench, name, cases[name], stack) for name in names]
        for row in rows:
            row.prepare((strange, key))
        load, start, n = os.getloadavg()[0], time.monotonic(), 0
        while n == 0 or (time.monotonic() - start < 60 * options.minutes if options.minutes else n < options.rounds):
            for row in rows:
                row.round(n)
            n += 1
        return {
            "machine": harness.machine(),
            "rounds": n,
            "minutes": (time.monotonic() - start) / 60,
            "load_before": load,
            "load": os.getloadavg()[0],
            "rows": [row.row() for row in rows],
        }


# ---- Idle, by instructions ----


def count_row(bench, source, scale, strange):
    directory = bench.directory / "idle"
    directory.mkdir(exist_ok=True)
    try:
        plain, field = instructions.builds(bench.tools, source, directory)
        with crowdjobs.Agent(bench.tools.deadheat, *strange, field, directory / f"{source.stem}.agent") as agent:
            agent.wait_for_answer(strange[0])
            counts = [instructions.count((p, 1, scale, 1), environment=e) for p, e in ((plain, None), (field, agent.environment))]
    except harness.Failure as failure:
        return {"name": source.stem, "note": str(failure)}
    return {"name": source.stem, "plain": counts[0], "idle": counts[1], "ratio": counts[1] / counts[0]}


def count(bench):
    """Instructions of the kernels of bench/kernels, plain and with an agent that has nothing to try."""
    rows, scale = [], 10
    strange = crowdjobs.Hive(bench.tools.deadheat, bench.directory / "strange.hive")
    key = strange.add("strange", crowdjobs.Strange(bench).program("field"))
    with strange:
        for source in kernel.sources():
            if source.stem in (bench.options.only or [source.stem]):
                bench.progress.say(f"{source.stem}: counting")
                rows.append(count_row(bench, pathlib.Path(source), scale, (strange, key)))
    return {"machine": harness.machine(), "scale": scale, "rows": rows}
