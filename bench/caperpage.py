"""Turns docs/caper.json, which bench/caper writes, into docs/caper.md and its plot."""
import json
import statistics

import bars
import capercount
import harness
import races
import table
from fieldpage import BAR_HEADER, MEASURES, Overhead, overhead_grid, section, where, wrapped

RESULTS = harness.DOCS / "caper.json"
PAGE = harness.DOCS / "caper.md"
COUNTS = ("curve", "sets", "alias")  # of a row: what does not depend on time
ALIAS = "alias analysis"

HEAD = """\
# `deadheat caper`: cost and precision

Written by `bench/caper --write` (a part of `make bench`) from `docs/caper.json`; do not edit. For how it works, see
[design/caper.md](design/caper.md).
"""
ABOUT_COST = """
Figure 4 of the paper: the overhead of a Caper build for every kernel (two threads) and real program, in percent of
{plain} of the same round, ± half of the 95% confidence interval. With six rounds or more, the value is the
Hodges-Lehmann estimate with the interval of the Wilcoxon signed-rank test; with fewer, it is the geometric mean with
Student's interval. The mean over the programs is geometric. "Plain again" is another run of the same program, so it
shows the noise. "Asleep" is the Caper build without the command: nothing is tracked. "Escape analysis" tracks what has
escaped, with all questions disabled. A "first run" starts from an empty state and asks at every site that is in a pair.
"Steady state" is a run after {steady} runs in a row have found nothing new. "Alias analysis", if it was
measured (`--alias`, in every fourth round, or `--alias-cost`), is the precise analysis that Caper is compared with. Time is the program's
own, or for servers their client's, without the preparations of the command.
"""
ABOUT_COUNTS = """
{where} The same without noise: the instructions that each kernel executes with one thread, as counted by callgrind, in
millions, and the additional instructions of a Caper build. Work is in percent of the usual amount. Measured by
`bench/caper --count --write`. Barriers and questions weigh more in instructions than in time: they are short, most of them wait for nothing, and a
disabled question is a nop, which counts as one instruction.
"""
ABOUT_PRECISION = """
Tables 3 and 4 of the paper. "Known" is the number of distinct races that FastTrack reports in the same work
(`bench/real/run`; the kernels have none). Then come the possible pairs: according to the static analysis in its two
styles, and according to Caper in the steady state (dpPairs: the pairs whose two sites have both touched memory that
other threads could reach), with its share of `sound` in parentheses. "Sites" are those in a pair of `sound`; "escaped"
are those in deSites after the given number of runs. "In sound" and "in dpPairs" give the share of a run's loads and
stores that are made at sites in a pair of that set. They cover the accesses that `-O2` leaves in the program,
counted in a separate build (`bench/accesses.c`). "aliasPairs", if counted (`--alias`), are the pairs that the precise
analysis has seen in the same number of runs.
"""
ABOUT_SOUNDNESS = """
Each pair of lines on which FastTrack reports a race, in three runs of the real programs that race, is looked up in
dpPairs after three Caper runs of the same work (`bench/caper --sound`). Races with one access in library code are not
pairs of the program's lines. `tests/caper/sound` does the same for the programs of `tests/programs` and
`bench/programs`.
"""

ABOUT_FILTER = """
A client of Caper (section 2.2 of the paper): `deadheat run --filter` on the kernels, with the state reached when
{steady} Caper runs in a row have found nothing new. "Work" is in percent of the usual amount: what the full build does in
about a second. "Checks" is the number of checks in the
code that can be switched off. "In no
pair" are those skipped because no pair of `sound` names their accesses; "unescaped" are those skipped on the assumption
that what has not escaped so far will not escape now. Then comes processor time relative to the native build in the same
round, as the geometric mean over the rounds: "full" is the ordinary build, "pruned" one with `--dh-prune`, "filterable"
one with `--dh-filterable` but no filter, and "filtered" the same build with the filter. The last column is the time of
the filtered build in percent of the full build's.
"""
FILTER_TIMES = ("full", "pruned", "filterable", "filtered")


def known_races():
    """By program: what the last bench/real/run --write has found."""
    rows = harness.load_results().get("real", {}).get("rows", [])
    return {row["name"]: row["cells"].get("deadheat", {}).get("races") for row in rows}


def precision_grid(data):
    lines = [["program", "known", "relay", "sound", "dpPairs", "sites", "escaped", "runs", "in sound", "in dpPairs"]]
    known, alias = known_races(), any("alias" in row for row in data["rows"])
    lines[0] += ["aliasPairs"] if alias else []
    for row in data["rows"]:
        if "sets" not in row:
            lines.append([row["name"], row.get("note", "-"), *("-" for _ in lines[0][2:])])
            continue
        s = row["sets"]
        sound = s["sp_pairs"] + s["dp_pairs"]
        share = f" ({100 * s['dp_pairs'] / sound:.0f}%)" if sound else ""
        found = known.get(row["name"], 0)
        cells = [f"{row['alias']['pairs']:,}" if "alias" in row else row.get("notes", {}).get(ALIAS, "-")]
        lines.append(
            [
                row["name"],
                "-" if found is None else str(found),
                *(f"{n:,}" for n in (s["relay"], sound)),
                f"{s['dp_pairs']:,}{share}",
                *(f"{n:,}" for n in (s["sites"], s["escaped_sites"])),
                str(len(row["curve"])),
                *(f"{100 * s[k]:.1f}%" if k in s else "-" for k in ("sound_share", "dp_share")),
                *(cells if alias else ()),
            ]
        )
    return lines


def count_grid(data):
    names = [c.name for c in capercount.CONFIGURATIONS]
    lines = [["kernel", "work, %", "plain", *(f"{name}, %" for name in names)]]
    good = [row for row in data["rows"] if "note" not in row]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], "-", *("-" for _ in names)])
            continue
        more = (f"{100 * (row['counts'][name] / row['plain'] - 1):+.1f}" for name in names)
        lines.append([row["name"], str(row["scale"]), f"{row['plain'] / 1e6:.1f}", *more])
    if good:
        means = (statistics.geometric_mean(row["counts"][name] / row["plain"] for row in good) for name in names)
        lines.append(["geometric mean", "", "", *(f"{100 * (mean - 1):+.1f}" for mean in means)])
    return lines


def sound_grid(rows):
    lines = [["program", "races", "in dpPairs", "missing", "in a library"]]
    for row in rows:
        if "races" not in row:
            lines.append([row["name"], row.get("note", "-"), "-", "-", "-"])
            continue
        dynamic = sum(r["set"] == "dpPairs" for r in row["races"].values())
        numbers = (len(row["races"]), dynamic, len(row["races"]) - dynamic, row["outside"])
        lines.append([row["name"], *map(str, numbers)])
    return lines


def missing(rows):
    return races.missing(rows, "races")


def soundness(rows):
    parts = [wrapped(ABOUT_SOUNDNESS), table.markdown_lines(sound_grid(rows))]
    if lost := missing(rows):
        parts.append("Not in dpPairs:\n\n" + "\n".join(f"- {line}" for line in lost))
    return section("Soundness", *parts)


def filter_grid(data):
    lines = [["kernel", "work, %", "checks", "in no pair", "unescaped", *FILTER_TIMES, "of full"]]
    for row in data["rows"]:
        if "note" in row or "checks" not in row:
            lines.append([row["name"], row.get("note", "-"), *("-" for _ in lines[0][2:])])
            continue
        every, safe, unescaped = row["checks"]
        counts = [f"{n:,} ({100 * n / every:.0f}%)" if every else "0" for n in (safe, unescaped)]
        times = [f"{row[name][0]:.2f}x" for name in FILTER_TIMES]
        share = f"{100 * row['filtered'][0] / row['full'][0]:.0f}%"
        lines.append([row["name"], str(row["scale"]), f"{every:,}", *counts, *times, share])
    good = [row for row in data["rows"] if "note" not in row and "checks" in row]
    if good:
        means = {name: statistics.geometric_mean(row[name][0] for row in good) for name in FILTER_TIMES}
        times = [f"{means[name]:.2f}x" for name in FILTER_TIMES]
        lines.append(["geometric mean", "", "", "", "", *times, f"{100 * means['filtered'] / means['full']:.0f}%"])
    return lines


def filter_section(data):
    how = (
        f"{where(data)} {data['rounds']} rounds; load average at the end: {data['load']:.1f}. Measured by "
        "`bench/filter --write`."
    )
    return section("Fewer checks", wrapped(how), wrapped(ABOUT_FILTER.format(steady="two")), table.markdown_lines(filter_grid(data)))


def about_cost(data):
    plain = "the two plain runs" if data.get("plain_runs") == 2 else "the plain run"
    return ABOUT_COST.format(steady="two", plain=plain)


def measured(data):
    """Without the programs for which only the sets were counted."""
    return dict(data, rows=[row for row in data["rows"] if row["plain"] is not None or "note" in row])


def markdown(data):
    part = " --quick" if data["quick"] else " --small" if data.get("small") else ""
    how = (
        f"{where(data)} {data['rounds']} rounds; work of the kernels: {data['scale']}% of the usual amount; load average "
        f"at the end: {data['load']:.1f}. Measured by `bench/caper{part} --write`.{apart(data)}"
    )
    cost = [wrapped(how), wrapped(about_cost(data)), "![Overhead of each configuration](caper.svg)"]
    for measure, title in MEASURES.items():
        cost += [f"### {title}", table.markdown_lines(overhead_grid(measured(data), measure))]
    if "counts" in data:
        about = ABOUT_COUNTS.format(where=where(data["counts"]))
        cost += ["### Instructions", wrapped(about), table.markdown_lines(count_grid(data["counts"]))]
    cost += ["### The bars", table.markdown_lines([BAR_HEADER, *bars.caper(data)], left=(0, 4))]
    precision = [wrapped(ABOUT_PRECISION), table.markdown_lines(precision_grid(data))]
    sound = soundness(data["sound"]) if data.get("sound") else ""
    fewer = filter_section(data["filter"]) if "filter" in data else ""
    return HEAD + section("Cost", *cost) + section("Precision", *precision) + sound + fewer


def last_results():
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def write_sets(rows):
    """Only what does not depend on time, of these programs; all else stays."""
    data = last_results()
    kept = {row["name"]: row for row in data.get("rows", [])}
    for row in rows:
        if "sets" in row:
            one = kept.setdefault(row["name"], {"name": row["name"], "plain": None, "cells": {}})
            one.pop("note", None)
            one.update({key: row[key] for key in COUNTS if key in row})
            one["notes"] = {**one.get("notes", {}), **row["notes"]}
    save(dict(data, rows=list(kept.values())))


def write_rows(data):
    """Only these programs, which were measured later than the others; all else stays, so do columns measured separately."""
    before = last_results()
    kept = {row["name"]: row for row in before.get("rows", [])}
    names = before.get("configurations", [])
    for row in data["rows"]:
        known = kept.get(row["name"], {}).get("cells", {})
        row["cells"] = {**{n: known[n] for n in before.get("columns", {}) if n in known}, **row.get("cells", {})}
        separately = {key: data[key] for key in ("rounds", "load", "machine")}
        kept[row["name"]] = {**with_counts(row, kept), **separately}
    names = [*names, *(n for n in data["configurations"] if n not in names)]
    save(dict(data, **dict(before, rows=list(kept.values()), configurations=names)))


def write_column(data, name):
    """Only this configuration, which was measured later than the others, beside plain runs of its own."""
    before = last_results()
    for row in before["rows"]:
        one = next((r for r in data["rows"] if r["name"] == row["name"]), {})
        if name in one.get("cells", {}):
            row["cells"][name] = one["cells"][name]
        row["notes"] = {**row.get("notes", {}), **one.get("notes", {})}
    names = [n for n in before["configurations"] if n != name] + [name]
    measured = [row["name"] for row in data["rows"]]
    parts = [{**part, "names": [n for n in part["names"] if n not in measured]} for part in before.get("columns", {}).get(name, [])]
    parts.append({"names": measured, **{key: data[key] for key in ("rounds", "scale", "load")}})
    columns = {**before.get("columns", {}), name: [part for part in parts if part["names"]]}
    save(dict(before, configurations=names, columns=columns))


def elsewhere(row, data):
    """Which machine it was, if not the one of the other rows."""
    m = row.get("machine", data["machine"])
    return "" if m == data["machine"] else f", on {m['cpu']}, Linux {m['kernel']}"


def apart(data):
    """Sentences about the columns and the programs that were measured separately."""
    text = "".join(
        f" The column \"{name}\" was measured separately, with plain runs in the same rounds: "
        + "; ".join(
            f"{', '.join(part['names']) if len(part['names']) <= 8 else 'the kernels'} in {part['rounds']} round{'s' * (part['rounds'] != 1)} "
            f"of {part['scale']}% of the work, load average {part['load']:.1f}"
            for part in parts
        )
        + "."
        for name, parts in data.get("columns", {}).items()
    )
    rows = [row for row in data["rows"] if "rounds" in row]
    if not rows:
        return text
    each = ", ".join(
        f"{row['name']} ({row['rounds']} rounds, load average {row['load']:.1f}{elsewhere(row, data)})" for row in rows
    )
    return f"{text} Measured separately, with `--only` and `--write`: {each}."


def write_sound(rows):
    """Only this part; programs that were not looked at stay."""
    data = last_results()
    kept = {row["name"]: row for row in data.get("sound", [])}
    kept.update({row["name"]: row for row in rows})
    save(dict(data, sound=list(kept.values())))


def write_counts(counts):
    """Only the instructions; kernels that were not counted stay."""
    data = last_results()
    kept = {row["name"]: row for row in data.get("counts", {}).get("rows", [])}
    kept.update({row["name"]: row for row in counts["rows"]})
    save(dict(data, counts=dict(counts, rows=list(kept.values()))))


def write_filter(rows):
    """What bench/filter measures is a part of the page of bench/caper, which must have been measured before."""
    save(dict(last_results(), filter=rows))


def with_counts(row, kept):
    """A row with what was counted before, as far as it was not counted again."""
    return {**{key: value for key, value in kept.get(row["name"], {}).items() if key in COUNTS}, **row}


def write(data):
    """All that was measured; of programs that were not, what was counted stays."""
    before = last_results()
    kept = {row["name"]: row for row in before.get("rows", [])}
    rows = {row["name"]: with_counts(row, kept) for row in data["rows"]}
    for name, row in kept.items():
        if name not in rows and "sets" in row:
            rows[name] = with_counts({"name": name, "plain": None, "cells": {}}, kept)
    parts = {part: before[part] for part in ("sound", "filter", "counts") if part in before}
    save(dict(data, **parts, rows=list(rows.values())))


def save(data):
    RESULTS.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (harness.DOCS / "caper.svg").write_text(Overhead(data).svg(), encoding="utf-8")
    PAGE.write_text(markdown(data), encoding="utf-8")
