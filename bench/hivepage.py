"""Turns docs/hive.json, of which each script that measures the hive writes a part, into docs/hive.md."""
import json
import textwrap

import crowdpage
import harness
import table

RESULTS = harness.DOCS / "hive.json"
PAGE = harness.DOCS / "hive.md"

HEAD = """\
# `deadheat hive`: figures

Written by `bench/crowd`, `bench/hive` and `bench/hive --start` with `--write` from `docs/hive.json`; do not edit. How it works is in [design/hive.md](design/hive.md), how to
use it in [guide/hive.md](guide/hive.md).
"""
ABOUT_LOAD = """
`bench/hive`: {agents:,} simulated agents on {connections:,} kept connections for {seconds:.0f} seconds, on the processors that the hive, its
database and the agents share. Each agent waits for news of its task by a poll, runs for a while, reports a result by a
second connection, is told that its task has ended, and asks for the next; four people look at lists and metrics meanwhile. A poll that waits
because there is nothing to say is no latency. What is: the answer to a result, which is on the disk then; the answer to a
poll that gets a task; and the time from sending a result to the answer of the poll that waits for what follows from it. Afterwards each acknowledged
result is asked for by its id: lost are those that the hive does not have. The most is what the same agents get answered if their runs take no
time. The load is the number of processes that wanted a processor before the run, so part of the latencies is theirs.
"""
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def load_grid(rows):
    lines = [["store", "requests/s", "p50 ms", "p99 ms", "result p99", "task p99", "news p99", "acknowledged", "lost", "hive cpu s",
              "agents cpu s", "most requests/s", "load"]]
    for kind, row in rows.items():
        lines.append([NAMES[kind], f"{row['per_second']:,.0f}", f"{row['all']['p50_ms']:.1f}", f"{row['all']['p99_ms']:.1f}",
                      *(f"{row[span]['p99_ms']:.1f}" for span in ("result", "task", "news")), f"{row['acknowledged']:,}", str(row["missing"]),
                      f"{row['hive_cpu_s']:.1f}", f"{row['cpu_s']:.1f}", f"{row['most_per_second']:,.0f}", f"{row['load_before']:.1f}"])
    return lines


def load_markdown(data):
    row = next(iter(data["rows"].values()))
    parts = [wrapped(where(data)), wrapped(ABOUT_LOAD.format(**row)), table.markdown_lines(load_grid(data["rows"]))]
    return "\n## Load\n\n" + "\n".join(f"{p.strip()}\n" for p in parts)


ABOUT_START = """
`bench/hive --start`: a hive reads the whole log when it starts, or a snapshot and what follows it. Processor and clock time on one thread; before the
runs {load} processes wanted a processor.
"""


def start_grid(data):
    lines = [["from", "results", "events", "processor s", "clock s"]]
    for row in data["rows"]:
        lines.append([row["from"], f"{row['results']:,}", f"{row['events']:,}", f"{row['cpu_s']:.2f}", f"{row['wall_s']:.2f}"])
    return lines


def start_markdown(data):
    parts = [wrapped(where(data)), wrapped(ABOUT_START.format(**data)), table.markdown_lines(start_grid(data))]
    return "\n## Start\n\n" + "\n".join(f"{p.strip()}\n" for p in parts)


def where(data):
    m = data["machine"]
    return f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB; {m['system']}, Linux {m['kernel']}; {m['clang']}."


def wrapped(text):
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False)


def write(part, data):
    """Replace one part of docs/hive.json, and write the page again."""
    harness.save_results(part, data, RESULTS)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(HEAD + "".join(page(results[name]) for name, page in PARTS if name in results), encoding="utf-8")


PARTS = (
    ("crowd", crowdpage.crowd_markdown),
    ("users", crowdpage.users_markdown),
    ("idle", crowdpage.idle_markdown),
    ("load", load_markdown),
    ("start", start_markdown),
)
