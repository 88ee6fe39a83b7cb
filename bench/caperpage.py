"""Turns docs/caper.json, which bench/caper writes, into docs/caper.md and its plot."""
import json

import bars
import harness
import table
from fieldpage import BAR_HEADER, MEASURES, Overhead, overhead_grid, section, where, wrapped

RESULTS = harness.DOCS / "caper.json"
PAGE = harness.DOCS / "caper.md"

HEAD = """\
# `deadheat caper`: cost and precision

Written by `bench/caper --write` (a part of `make bench`) from `docs/caper.json`; do not edit. How it works is in
[design/caper.md](design/caper.md).
"""
ABOUT_COST = """
Figure 4 of the paper: what a Caper build adds to every kernel (two threads) and real program, in percent of the plain
run of the same round: the geometric mean over the rounds, and half of its 95% confidence interval. Plain again is the
same program once more, so what it shows is noise. Asleep is the Caper build without the command; nothing is tracked.
Escape analysis tracks what has escaped, and asks nothing. A first run asks at every site that is in a pair; it begins with
an empty state. Steady state is a run after as many as it took until {steady} in a row found nothing new. Time is the program's, of
servers their client's, without the command's preparations.
"""
ABOUT_PRECISION = """
Tables 3 and 4 of the paper. Known are the distinct races that FastTrack reports in the same work (`bench/real/run`;
the kernels have none). Then the pairs that are possible: by the static analysis in its two styles, and by Caper, in the
steady state: dpPairs, those whose two sites have both touched memory that other threads could reach. In brackets
how much of `sound` that is. Sites are those in a pair of `sound`; escaped are those in deSites, after so
many runs. If it was measured (`--alias`), aliasPairs are the pairs that the precise analysis has seen in as many runs, and its cost is how
many times the plain run's time it takes.
"""


def known_races():
    """By program: what the last bench/real/run --write has found."""
    rows = harness.load_results().get("real", {}).get("rows", [])
    return {row["name"]: row["cells"].get("deadheat", {}).get("races") for row in rows}


def precision_grid(data):
    lines = [["program", "known", "relay", "sound", "dpPairs", "sites", "escaped", "runs"]]
    known, alias = known_races(), any("alias" in row for row in data["rows"])
    lines[0] += ["aliasPairs", "its cost"] if alias else []
    for row in data["rows"]:
        if "sets" not in row:
            lines.append([row["name"], row.get("note", "-"), *("-" for _ in lines[0][2:])])
            continue
        s = row["sets"]
        sound = s["sp_pairs"] + s["dp_pairs"]
        share = f" ({100 * s['dp_pairs'] / sound:.0f}%)" if sound else ""
        races = known.get(row["name"], 0)
        cells = [f"{row['alias']['pairs']:,}", f"{row['alias']['times']:.1f}x"] if "alias" in row else ["-", "-"]
        lines.append(
            [
                row["name"],
                "-" if races is None else str(races),
                *(f"{n:,}" for n in (s["relay"], sound)),
                f"{s['dp_pairs']:,}{share}",
                *(f"{n:,}" for n in (s["sites"], s["escaped_sites"])),
                str(len(row["curve"])),
                *(cells if alias else ()),
            ]
        )
    return lines


def markdown(data):
    part = " --quick" if data["quick"] else " --small" if data.get("small") else ""
    how = (
        f"{where(data)} {data['rounds']} rounds; work of the kernels: {data['scale']}% of the usual; load of the "
        f"machine at the end: {data['load']:.1f}. Measured by `bench/caper{part} --write`."
    )
    cost = [wrapped(how), wrapped(ABOUT_COST.format(steady="two")), "![Overhead of each configuration](caper.svg)"]
    for measure, title in MEASURES.items():
        cost += [f"### {title}", table.markdown_lines(overhead_grid(data, measure))]
    cost += ["### The bars", table.markdown_lines([BAR_HEADER, *bars.caper(data)], left=(0, 4))]
    precision = [wrapped(ABOUT_PRECISION), table.markdown_lines(precision_grid(data))]
    return HEAD + section("Cost", *cost) + section("Precision", *precision)


def write(data):
    RESULTS.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (harness.DOCS / "caper.svg").write_text(Overhead(data).svg(), encoding="utf-8")
    PAGE.write_text(markdown(data), encoding="utf-8")
