"""Turns docs/field.json, which bench/field, bench/chase and bench/steer write a part of each, into docs/field.md and its plots."""
import json
import textwrap

import harness
import table

RESULTS = harness.DOCS / "field.json"
PAGE = harness.DOCS / "field.md"


# ---- Steering ----

ABOUT_STEER = """
RaceMob's bench1 to bench4 (SOSP 2013, figures 1 and 7; `bench/programs/steer`), and how many of their races are found: by
steering every pair that the static analysis proposes, in both orders, and by precise detectors in the order that the program
enforces then. In bench1 to bench3 that order hides the race. bench4 has three, each in runs with one input, which all tools were given.
Beside them the paper's table 5: RaceMob, and Portend, which has a precise detector.
"""
PAPER = {"bench1": ("1/1", "0/1"), "bench2": ("1/1", "0/1"), "bench3": ("1/1", "0/1"), "bench4": ("3/3", "3/3")}

ABOUT_DEFECTS = """
Well-known kinds of concurrency defects, each re-created from its description as a small program whose usual timing hides it
(`bench/programs/defects`). Failed is how many plain runs crashed or did not end. Then `chase --all --steer`, in either order, until the
program crashed or hung: after how many runs, how, and at which two lines. Replayed says whether `--replay` of that record had the same
consequence.
"""


def steer_grid(data):
    lines = [["program", "races", "steered", *data["precise"], "RaceMob", "Portend", "runs"]]
    for row in data["rows"]:
        found = [f"{n}/{row['races']}" for n in (row["steered"], *row["precise"].values())]
        lines.append([row["name"], str(row["races"]), *found, *PAPER.get(row["name"], ("-", "-")), str(row["runs"])])
    return lines


def defects_grid(data):
    lines = [["program", "plain runs", "failed", "steered runs", "consequence", "lines", "replayed"]]
    for row in data["defects"]:
        line = [row["name"], f"{row['plain']:,}", str(row["failures"]), str(row["runs"])]
        if "consequence" in row:
            where = f"{row['variable']}, {' and '.join(map(str, row['lines']))}"
            line += [f"{row['consequence']}: {row['detail']}", where, "yes" if row["replayed"] else "NO"]
        else:
            line += ["none", "-", "-"]
        lines.append(line)
    return lines


# ---- Coverage ----

ABOUT_COVERAGE = """
Table 2 of the paper, on the programs of `bench/programs` that race: distinct races that are reported at least once and (in brackets) at least
twice in {trials} trials of `chase --all --style=sound`, with the paper's 10 ms of delay and r_max of 5%. In a trial every pair that the static analysis
proposes has one run in each order. FastTrack's are those of one run, in an order that the program enforces; when it is chased, the order is
only the usual one. Races are told apart by the lines of their accesses; both is those that FastTrack and the chase report. Missed are those that only FastTrack
reports. Refuted are races on variables that do not race, by the definition of the programs.
"""


def coverage_grid(data):
    lines = [["program", "pairs", "chase", "FastTrack", "both", "fewest in a trial", "most in a trial", "missed", "refuted"]]
    for row in data["rows"]:
        lines.append([row["name"], str(row["pairs"]), f"{row['once']} ({row['twice']})", str(row["fasttrack"]),
                      f"{row['both']} ({row['both_twice']})", str(min(row["each"])), str(max(row["each"])),
                      "; ".join(row["missed"]) or "none", "; ".join(row["refuted"]) or "none"])
    total = {key: sum(row[key] for row in data["rows"]) for key in ("pairs", "once", "twice", "fasttrack", "both", "both_twice")}
    missed, refuted = (sum(len(row[key]) for row in data["rows"]) for key in ("missed", "refuted"))
    lines.append(["total", str(total["pairs"]), f"{total['once']} ({total['twice']})", str(total["fasttrack"]),
                  f"{total['both']} ({total['both_twice']})", "", "", str(missed), str(refuted)])
    return lines


def coverage_markdown(data):
    about = textwrap.fill(ABOUT_COVERAGE.strip().format(trials=data["trials"]), 120)
    return section("Coverage", where(data), about, table.markdown_lines(coverage_grid(data), left=(0, 7, 8)))


# ---- The page ----

HEAD = """\
# `deadheat chase`: cost, coverage, consequences

Written by `bench/field`, `bench/chase` and `bench/steer` with `--write` (parts of `make bench`) from `docs/field.json`; do not edit. How it works is
in [design/field.md](design/field.md), how to use it in [guide/chase.md](guide/chase.md).
"""


def where(data):
    m = data["machine"]
    return f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB; {m['system']}, Linux {m['kernel']}; {m['clang']}."


def section(title, *parts):
    return f"\n## {title}\n\n" + "\n".join(f"{p.strip()}\n" for p in parts)


def steer_markdown(data):
    out = section("Races that an accidental order hides", where(data), textwrap.fill(ABOUT_STEER.strip(), 120),
                  table.markdown_lines(steer_grid(data)))
    return out + section("Defects that plain runs do not show", textwrap.fill(ABOUT_DEFECTS.strip(), 120),
                         table.markdown_lines(defects_grid(data), left=(0, 4, 5)))


def write(part, data):
    """Replace one part of docs/field.json, and write the page again."""
    harness.save_results(part, data, RESULTS)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(HEAD + "".join(page(results[name]) for name, page in PARTS if name in results), encoding="utf-8")


PARTS = (("coverage", coverage_markdown), ("steer", steer_markdown))
