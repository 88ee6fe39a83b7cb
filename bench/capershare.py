"""Which part of a run's accesses is made at sites of a set of pairs: table 4 of the paper, for bench/caper.

A build with coverage callbacks counts the loads and stores of each place (bench/accesses.c); it is what `-O2` makes
of each file, like a Caper build. A place is the site, or the sites, of its line, column and kind. Copies by memcpy
and the like, and atomic updates, are not counted.
"""
import json
import pathlib
import subprocess

import harness

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-fsanitize-coverage=func,trace-loads,trace-stores"]
KINDS = {
    "read": ("read",),
    "atomic-read": ("read",),
    "write": ("write",),
    "atomic-write": ("write",),
    "atomic-update": ("read", "write"),
    "free": (),
}


def counter(tools, directory):
    """What is linked to a build that counts, made once in a directory."""
    path = directory / "accesses.o"
    if not path.exists():
        harness.build([tools.clang, *harness.FLAGS, "-c", HERE / "accesses.c", "-o", path], directory / "log")
    return path


def places_of(program, addresses):
    """The line and column of each address, as (file, line, column)."""
    done = subprocess.run(
        ["llvm-symbolizer-19", f"--obj={program}", "--output-style=JSON"],
        input="\n".join(addresses),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    places = []
    for line in done.stdout.splitlines():
        at = (json.loads(line).get("Symbol") or [{}])[0]
        places.append((pathlib.Path(at.get("FileName", "")).name, at.get("Line", 0), at.get("Column", 0)))
    return places


def counted(program, directory):
    """How often each place was accessed, as {(kind, file, line, column): times}. The runs' files are in the directory."""
    file = directory / program.name
    if not file.exists():
        raise harness.Failure("nothing was counted")
    rows = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    sums = {}
    for (kind, _, times), place in zip(rows, places_of(program, [row[1] for row in rows])):
        sums[kind, *place] = sums.get((kind, *place), 0) + int(times)
    return sums


def sites(deadheat, state, program):
    """The places of the pairs of sound, and of dpPairs."""
    sound, dynamic = set(), set()
    text = harness.answer([deadheat, "caper", "export", "--to=filter", f"--state={state}", program], "no filter")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        _, place, _, kind, _, is_dynamic = line.split("\t")
        file, row, column = place.rsplit(":", 2)
        for one in KINDS[kind]:
            at = (one, pathlib.Path(file).name, int(row), int(column))
            sound.add(at)
            if is_dynamic == "yes":
                dynamic.add(at)
    return sound, dynamic


def shares(sums, *sets):
    """Of all accesses, the part that is made at the places of each set."""
    total = sum(sums.values())
    return [sum(n for place, n in sums.items() if place in one) / total if total else 0 for one in sets]
