#!/usr/bin/env python3
"""docs/lard.md from docs/lard.json: what examples/lardvm/tables and bench/lardvm found.

Run by itself it only writes the page again.
"""
import json
import math
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import harness  # noqa: E402  (found only after the line above)

RESULTS = harness.DOCS / "lard.json"
SHORT = {"mark-sweep": "MS", "semispace": "SS"}
ABLATIONS = {"allmem": "AllMem", "allsync": "AllSync", "noclear": "NoClear", "nocopy": "NoCopy",
             "noidentity": "NoIdentity", "naive": "Naive"}
PAPER = {"mark-sweep": 1.22, "semispace": 1.21}

HEAD = """\
# Language-level races: accuracy and cost

Written by `bench/lardpage.py` from `docs/lard.json`; do not edit. `examples/lardvm/tables --write` produces the first two
tables, `bench/lardvm --write` (a part of `make bench`) the last one.

`examples/lardvm` is a small virtual machine with green threads, monitors, volatile fields and two garbage collectors.
Through `include/deadheat/lard.h` it tells deadheat what its memory, threads and synchronisation mean. This page shows
its versions of tables 2 and 3 and figure 3 of "Low-Level Detection of Language-Level Data Races with LARD"
(ASPLOS 2014).

"""

EXACT = """\
## Accuracy

Each program is run once with each collector (MS: mark-sweep, SS: semispace). That execution is recorded, and judged as
it runs by the virtual machine's own detector, the oracle, which knows threads, objects and fields by their names in the
language and knows nothing of addresses. The recording is then analysed with everything that the virtual machine
reports (LARD), and once for each of these variants, as if it did not report some of it: AllMem also treats the run-time
system's own accesses as the program's, AllSync its synchronisation; NoClear is not told that memory now belongs to
another object, NoCopy that an object has moved, NoIdentity which language thread a kernel thread is running; Naive is
all of these at once.

A DRE is a dynamic access that races with an earlier one, a PC a code location of such accesses. F counts false and M
missed ones, compared with the oracle access by access. The detector is `basicvc`, which reports every racy access;
`fasttrack` was checked on the same recordings to report nothing else, and to report the first race on every racy
variable. The counts of racy programs depend on the schedule and differ from run to run; LARD's error counts are always
zero.

Naive reports nothing false here because it sees everything: to it the virtual machine is one C program, correctly
synchronised, and that very synchronisation hides the races of the programs that run on it.

"""

COST = """\
## Cost

Processor time of a virtual machine that reports its synchronisation, memory and threads, but no accesses ("told"),
relative to the same machine built without deadheat. This is the paper's figure 3; the paper's averages are 1.22 (MS) and
1.21 (SS), for Java programs, with a research prototype that keeps clocks in software and neither clears nor copies
histories. Ours does all of that, so that checking could begin at any moment. "Checked" also reports accesses: the cost
of finding the races.

The programs named work-* do real work between their synchronisation operations; the others do little but
synchronise, and show what a call costs when nothing hides it.

"""


def row_text(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |\n"


def table(head, rows, left=2):
    out = row_text(head) + "|" + "|".join("---" if i < left else "---:" for i in range(len(head))) + "|\n"
    return out + "".join(row_text(r) for r in rows)


def second(rows):
    """Table 2: the oracle, LARD and Naive."""
    body = [[r["name"], SHORT[r["gc"]], r["collections"], r["accesses"], r["dre"], r["pc"]]
            + [r["views"][v][k] for v in ("lard", "naive") for k in ("dre", "pc")] for r in rows]
    head = ["program", "GC", "collections", "accesses", "oracle DRE", "PC", "LARD DRE", "PC", "Naive DRE", "PC"]
    return table(head, body)


def third(rows):
    """Table 3: false and missed, places in brackets."""

    def cell(view, kind):
        return f"{view[kind]} ({view[kind + '_pc']})" if view[kind] else "0"

    def cells(r):
        for v in ["lard", *ABLATIONS]:
            yield from (cell(r["views"][v], kind) for kind in ("false", "missed"))

    head = ["program", "GC", "LARD F", "M"] + [h for name in ABLATIONS.values() for h in (f"{name} F", "M")]
    body = [[r["name"], SHORT[r["gc"]], *cells(r)] for r in rows]
    for gc in SHORT:
        chosen = [r for r in rows if r["gc"] == gc]
        if chosen:
            total = [sum(r["views"][v][k] for r in chosen) for v in ["lard", *ABLATIONS] for k in ("false", "missed")]
            body.append(["**all**", SHORT[gc], *(f"**{n}**" for n in total)])
    return table(head, body)


def tables(rows):
    if not rows:
        return "nothing was measured\n"
    return ("Racy accesses found (the paper's table 2):\n\n" + second(rows)
            + "\nFalse (F) and missed (M) racy accesses, with their code locations in parentheses (the paper's table 3):\n\n" + third(rows))


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def mean_row(label, rows):
    means = [mean([r[k] for r in rows if r["gc"] == gc]) for k in ("told", "checked") for gc in SHORT]
    return [f"**{label}**", ""] + [f"**{m:.2f}**" for m in means]


def cost(data):
    rows = data["rows"]
    if not rows:
        return "nothing was measured\n"
    body = []
    for work in (True, False):
        group = [r for r in rows if r["name"].startswith("work-") == work]
        names = sorted({r["name"] for r in group})
        of = {(r["name"], r["gc"]): r for r in group}
        for name in names:
            pair = [of[name, gc] for gc in SHORT if (name, gc) in of]
            body.append([name, f"{statistics.fmean(r['seconds'] for r in pair):.2f}"]
                        + [f"{r['told']:.2f}" for r in pair] + [f"{r['checked']:.2f}" for r in pair])
        if names:
            body.append(mean_row(f"mean of {'work-*' if work else 'the others'}", group))
    body.append(mean_row("mean of all", rows))
    body.append(["the paper's figure 3", ""] + [f"{PAPER[gc]:.2f}" for gc in SHORT] + ["", ""])
    m, start = data["machine"], data.get("start")
    began = ("Process startup and exit, which are included in these figures, take "
             + ", ".join(f"{start[k] * 1000:.1f} ms ({k})" for k in ("plain", "told", "checked")) + ".\n"
             if start else "")
    return (table(["program", "seconds, plain", "told, MS", "told, SS", "checked, MS", "checked, SS"], body, 1)
            + f"\n{began}{data['rounds']} rounds; {m['cpu']}, {m['cores']} cores, {m['system']}, {m['clang']}.\n")


def page(results):
    out = HEAD
    if "tables" in results:
        out += EXACT + tables(results["tables"]) + "\n"
    if "cost" in results:
        out += COST + cost(results["cost"]) + "\n"
    return out.rstrip("\n") + "\n"


def write():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    (harness.DOCS / "lard.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    if not RESULTS.exists():
        sys.exit("bench/lardpage.py: there are no results yet; measure with --write first")
    write()
