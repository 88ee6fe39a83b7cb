"""Turns docs/hive.json, to which each script that measures the hive contributes a part, into docs/hive.md."""
import json
import textwrap

import crowdpage
import harness
import table

RESULTS = harness.DOCS / "hive.json"
PAGE = harness.DOCS / "hive.md"

HEAD = """\
# `deadheat hive`: figures

Written by `bench/crowd`, `bench/hive` and `bench/hive --start` with `--write` from `docs/hive.json`; do not edit. For
how it works, see [design/hive.md](design/hive.md); for how to use it, [guide/hive.md](guide/hive.md).
"""
ABOUT_LOAD = """
`bench/hive`: {agents:,} simulated agents on {connections:,} persistent connections for {seconds:.0f} seconds, on the
same processors as the hive and its database. Each agent polls for news of its task, runs for a while, reports a result
over a second connection, learns that its task has ended, and asks for the next one; meanwhile, four people view lists
and metrics. A poll that waits because there is no news is not counted as latency. Counted are: the response to a result,
which is on disk by then ("result"); the response to a poll that gets a task ("task"); and the time from sending a
result to the response of the poll that waits for its consequences ("news"). Afterwards, each acknowledged result is
requested by its id; "lost" counts those that the hive does not have. "Max requests/s" is the throughput for the same
agents if their runs take no time. "Load" is the load average before the run; part of the latency is
due to the other processes.
"""
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def load_grid(rows):
    lines = [["store", "requests/s", "p50 ms", "p99 ms", "result p99", "task p99", "news p99", "acknowledged", "lost", "hive cpu s",
              "agents cpu s", "max requests/s", "load"]]
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
`bench/hive --start`: when it starts, a hive reads the whole log, or a snapshot and the part of the log that follows it.
Processor and wall time on one thread; the load average before the runs was {load}.
"""


def start_grid(data):
    lines = [["from", "results", "events", "processor s", "wall s"]]
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
