"""Turns docs/pipeline.json, which bench/pipeline writes, into docs/pipeline.md."""
import json

import harness
import races
import table
from fieldpage import section, where, wrapped

RESULTS = harness.DOCS / "pipeline.json"
PAGE = harness.DOCS / "pipeline.md"

HEAD = """\
# `deadheat pipeline` on real programs

Written by `bench/pipeline --write` (a part of `make bench`) from `docs/pipeline.json`; do not edit. The stages are
described in [guide/pipeline.md](guide/pipeline.md).
"""
ABOUT_STAGES = """
What each stage leaves, with its number of runs and its seconds in parentheses. "Sound": the pairs that the static
analysis finds when the program is linked. "dpPairs": the pairs whose two accesses have both touched memory that other
threads could reach, counted once three runs in a row have found nothing new or 30% of the budget is used up. "Chased":
the pairs of lines and columns that are passed to the chase, from at most 10,000 pairs of sites. "Met": those whose
accesses were seen, in the inference run, to touch the same bytes from different threads. "After chase" and "after
steering": the pairs of lines confirmed by the end of that stage. "Time" is the total time of the pipeline, out of its
budget; the static analysis is part of the link. "Load" is the load average at the end of the program's run: on a busy
machine fewer runs fit into the budget.
"""
ABOUT_RACES = """
"Confirmed" is the number of distinct races that the pipeline confirmed. "Run" is the number of distinct pairs of lines
on which FastTrack reports a race in {runs} of the same work with the full build, if both lines are the program's own. Of these, the
table counts the pairs in dpPairs; those that the pipeline has also confirmed ("both"); and those that it has not, which it calls still
possible or never seen ("only run"). "Only pipeline" counts the pairs of lines that the pipeline has confirmed and `run` has not reported.
An access that the optimiser has merged with another has no line in a Caper build, and that of its surroundings in a full build, so a
pair that Caper does not have is also looked up without the line of either side. A pair of `run` that is not in dpPairs ("missing") has an access that the Caper runs have not executed: they are other runs, and
shorter. Anything else would be a soundness failure.
"""


def stage_text(stage, left=None):
    left = stage["left"] if left is None else left
    return "-" if left is None else f"{left:,} ({stage['runs']}, {stage['seconds']:.0f} s)"


def stages_grid(data):
    lines = [["program", "sound", "dpPairs", "chased", "met", "after chase", "after steering", "time", "load"]]
    for row in data["rows"]:
        if "stages" not in row:
            lines.append([row["name"], row.get("note", "-"), *("-" for _ in lines[0][2:])])
            continue
        static, caper, infer, chase, steer = row["stages"]
        counts = row["counts"]
        candidates = len(row["confirmed"]) + counts["possible"] + counts["never_seen"] + counts.get("beyond", 0)
        chased = [s["left"] is not None for s in (chase, steer)]
        after = [None if not was else candidates - s["left"] for was, s in zip(chased, (chase, steer))]
        lines.append(
            [
                row["name"],
                f"{static['left']:,} ({static['seconds']:.0f} s)",
                stage_text(caper),
                f"{candidates:,}",
                stage_text(infer),
                *(stage_text(s, max(a, 0)) if a is not None else "-" for s, a in zip((chase, steer), after)),
                f"{row['seconds']:.0f} of {row['budget']:.0f} s",
                f"{row['load']:.1f}",
            ]
        )
    return lines


def races_grid(data):
    lines = [["program", "confirmed", "run", "in dpPairs", "both", "only run", "only pipeline", "missing"]]
    for row in data["rows"]:
        if "run" not in row:
            continue
        run = row["run"]
        both = sum(r["confirmed"] for r in run.values())
        dynamic = sum(r["set"] == "dpPairs" for r in run.values())
        only = sum(pair not in run for pair in row["confirmed"])
        numbers = (row["counts"]["confirmed"], len(run), dynamic, both, len(run) - both, only, len(run) - dynamic)
        lines.append([row["name"], *map(str, numbers)])
    return lines


def missing(data):
    return races.missing(data["rows"], "run")


def markdown(data):
    how = f"{where(data)} Measured by `bench/pipeline --write`. Servers get their workload from a client (`--client`)."
    runs = "one run" if data["runs"] == 1 else f"{data['runs']} runs"
    lost = missing(data)
    found = [wrapped(ABOUT_RACES.format(runs=runs)), table.markdown_lines(races_grid(data))]
    if lost:
        found.append("Not in dpPairs:\n\n" + "\n".join(f"- {line}" for line in lost))
    return (
        HEAD
        + section("Stages", wrapped(how), wrapped(ABOUT_STAGES), table.markdown_lines(stages_grid(data)))
        + section("Races", *found)
    )


def write(data, order):
    """Rows that were not measured again are kept."""
    if RESULTS.exists():
        known = {row["name"]: row for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]}
        known.update({row["name"]: row for row in data["rows"]})
        data = dict(data, rows=[known[name] for name in order if name in known])
    RESULTS.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(data), encoding="utf-8")
