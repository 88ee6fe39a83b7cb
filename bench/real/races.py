"""Races that FastTrack has reported of a real program, and whether Caper has them: for bench/caper and bench/pipeline.

A race is a pair of lines. What the optimiser has merged has no line: it is line 0 of its file, here as in Caper's table.
In a full build the pass may have given it that of its surroundings (src/ir/emit.c), while Caper has it without.
"""
import itertools
import json
import pathlib
import subprocess

import harness

SETS = ("dpPairs", "spPairs", "none")


def frame_of(access):
    """The innermost frame that is the program's own, or None: what a library accesses is no part of the program."""
    return next((f for f in access["stack"] if "file" in f and not f["file"].startswith(("/usr", "../"))), None)


def variable_of(finding):
    return finding["summary"].removeprefix("global ").replace("`", "")


def observed(deadheat, records):
    """Distinct races in records, as {pair of lines: variable}; and how many have an access in a library."""
    if not pathlib.Path(records).exists():
        return {}, 0
    done = subprocess.run(
        [deadheat, "report", "--all", "--format=json", records],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    found, outside = {}, 0
    for finding in json.loads(done.stdout)["findings"]:
        for one in (finding, *finding.get("variants", ())):
            frames = [frame_of(access) for access in one["accesses"]]
            if None in frames:
                outside += 1
            else:
                lines = sorted(f"{pathlib.Path(f['file']).name}:{f.get('line', 0)}" for f in frames)
                found[",".join(lines)] = variable_of(one)
    return found, outside


def asked(deadheat, state, program, pairs):
    """In which of Caper's sets each pair of lines is."""
    if not pairs:
        return {}
    argv = [deadheat, "caper", "status", f"--state={state}", *(f"--pair={p}" for p in pairs), program]
    return dict(line.split("\t") for line in harness.answer(argv, "no status").splitlines())


def without_lines(pair):
    """The pair as Caper has it if one access was merged, or both."""
    sides = [(side, side.rpartition(":")[0] + ":0") for side in pair.split(",")]
    return [",".join(sorted(both)) for both in itertools.product(*sides)][1:]


def sets_of(deadheat, state, program, pairs):
    """The same for pairs of a full build, by the lines that Caper has."""
    found = asked(deadheat, state, program, pairs)
    others = {pair: without_lines(pair) for pair, where in found.items() if where == "none"}
    again = asked(deadheat, state, program, sorted(set(itertools.chain.from_iterable(others.values()))))
    for pair, names in others.items():
        found[pair] = min((again[name] for name in names), key=SETS.index)
    return found


def missing(rows, member):
    """Races that are not in dpPairs, in words."""
    return [
        f"{row['name']}: {pair} on {r['on']}: {'in spPairs' if r['set'] == 'spPairs' else 'no pair of sound'}"
        for row in rows
        for pair, r in row.get(member, {}).items()
        if r["set"] != "dpPairs"
    ]
