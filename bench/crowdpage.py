"""The parts of docs/hive.md that bench/crowd writes: what a crowd finds, and what a user notices."""
import json
import statistics

import harness
import table
from fieldpage import plus_minus, section, where, wrapped

# RaceMob (SOSP 2013): tables 1, 2, 3 and 4.
PAPER = {
    "pbzip2": {"candidates": 65, "table1": (0, 3, 2, 4, 0, 21, 34, 1), "crowd": 9, "tsan": 9, "aggregate": 377.00, "slow": 3001.00, "user": 2.90},
    "memcached": {"candidates": 7, "table1": (0, 0, 1, 0, 0, 2, 3, 1), "crowd": 1, "tsan": 0, "aggregate": 2.20, "slow": 3102.32, "user": 0.10},
}
PAPER_ALL = {"candidates": 841, "table1": (3, 3, 18, 82, 172, 267, 212, 84), "crowd": 106, "tsan": 102, "user": 2.32, "most": 4.54}
HOW = ("causes hang", "causes crash", "both orders", "single order", "not aliasing", "context", "synchronisation", "unknown")
AGGREGATE, MEAN, MOST = "% aggregate, the sum over all executions", "% on average for a user", "% at most for a user"

ABOUT_CROWD = """
`bench/crowd`: each program has a hive and a simulated crowd (`deadheat crowd`) of {users:,} users, who run it, a few at a
time, until there is nothing left to try or one of the limits in the table (runs, seconds) is reached. pbzip2 compresses
files of 1 to 4 megabytes, memcached has four clients, and the programs of `bench/programs` run with four threads, about
a second in total per user. "Load" is the load average of the machine at about that time. On a quiet machine the same
number of seconds allows more runs, and each run tries more: an agent that is woken late leaves more of its budget unused.
"""
ABOUT_TABLE1 = """
Table 1: candidates by verdict. Each true race counts once, under its worst consequence. Candidates are the pairs of
accesses that the static analysis proposes, and those that context inference has found in bundles; the programs, their
versions and the static analysis are not those of the paper. {sound}
"""
ABOUT_TABLE3 = """
Table 3: races, as distinct pairs of source lines, that the crowd has confirmed, and that ThreadSanitizer reports in the
given number of runs of the same work. A run that hangs or takes too long is stopped, and what it has reported by then
counts. "In a library" counts reports with an access in a library. The races found by only one of the two are listed
below. "Static" is the number of candidates that the static analysis proposes.
"""
ABOUT_TABLE4 = """
Table 4: the time that validation made threads wait, as counted by the hive, in percent of the time that the programs
ran. The aggregate is the sum over all executions of all users, as in the paper. A user waits for at most 2% of the
total time that they ran the program, or 4% if waits take as long as they can. The bars are 2.3% on average and 4.5% at
most. Users who have run a program for less than some tenths of a second do not wait at all.
"""
IN_ADVANCE = """
When these rows were measured, a new user had 20 ms in advance, which is a high percentage for a user who runs the
program for a tenth of a second, and none of it had to be earned: {}.
"""
ABOUT_USERS = """
`bench/crowd --overhead`: how much longer a program takes for its user in wall time, in percent of the plain build: the
median of the ratios to the plain runs of the same round (`rounds.robust`), ± half of its 95% confidence interval, over
{rounds} rounds in {minutes:.0f} minutes. "Asleep" is the field build without an agent; "idle" has an agent whose hive
has nothing to try; "validating" has an agent with a task, and a new one after each result. Figure 5 of the paper breaks
the overhead down in the same way. ThreadSanitizer, in every sixth round, is included for table 4. "Plain again", a
second run of the plain build, shows the noise; smaller differences mean nothing. The programs are given so much work
that a plain run takes about a second or more: the agent's work when a program starts weighs more in shorter ones. The
load average was {load_before:.1f} before and {load:.1f} at the end.
"""
ABOUT_ACCOUNTED = """
"Accounted" is what that user's agent has counted: the time that threads spent waiting or in traps, or while code was
being patched, in percent of the time that the program ran. The bars are 2.3% on average and 4.5% at most; this is what
the budget bounds, whatever else the machine does.
"""
ABOUT_IDLE = """
`bench/crowd --idle`: instructions that each kernel of `bench/kernels` executes with one thread, as counted by callgrind:
linked by clang with link-time optimisation, and as a field build with an agent that has nothing to try. These counts do
not depend on other load on the machine. With a tenth of their usual work the kernels run for only hundredths of a
second, and the additional instructions are at startup: the program finds its agent, and the imports of its modules are
scanned once (C++ programs have many). The bar for idle users is 0.5%.
"""


def table1_grid(data):
    lines = [["program", "candidates", *HOW, "bundles", "runs", "max runs", "results", "seconds", "max seconds", "load"]]
    good = [row for row in data["rows"] if "note" not in row]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], *("-" for _ in lines[0][2:])])
            continue
        numbers = (row["candidates"], *(row["table1"][how] for how in HOW), row["bundles"], row["counts"]["runs"], row["asked"]["runs"], row["counts"]["sent"])
        lines.append([row["name"], *map(str, numbers), f"{row['seconds']:.0f}", str(row["asked"]["budget"]), f"{row['load']:.0f}"])
        if paper := PAPER.get(row["name"]):
            lines.append([f"{row['name']} in the paper", str(paper["candidates"]), *map(str, paper["table1"]), *["-"] * 7])
    sums = [sum(row["table1"][how] for row in good) for how in HOW]
    lines.append(["all", str(sum(r["candidates"] for r in good)), *map(str, sums), str(sum(r["bundles"] for r in good)),
                  str(sum(r["counts"]["runs"] for r in good)), "", str(sum(r["counts"]["sent"] for r in good)), "", "", ""])
    lines.append(["all ten of the paper", str(PAPER_ALL["candidates"]), *map(str, PAPER_ALL["table1"]), *["-"] * 7])
    return lines


def table3_grid(data):
    lines = [["program", "crowd", "ThreadSanitizer", "both", "only crowd", "only ThreadSanitizer", "in a library", "completed runs", "static"]]
    for row in data["rows"]:
        if "note" in row:
            continue
        both, crowd, tsan = (len(row["races"][k]) for k in ("both", "crowd", "tsan"))
        ended = f"{row['races']['ended']} of {row['asked']['tsan_runs']}"
        numbers = (both + crowd, both + tsan, both, crowd, tsan, row["races"]["outside"], ended, row["candidates"])
        lines.append([row["name"], *map(str, numbers)])
        if paper := PAPER.get(row["name"]):
            lines.append([f"{row['name']} in the paper", str(paper["crowd"]), str(paper["tsan"]), *["-"] * 5, str(paper["candidates"])])
    lines.append(["all ten of the paper", str(PAPER_ALL["crowd"]), str(PAPER_ALL["tsan"]), *["-"] * 6])
    return lines


def differences(data):
    for row in data["rows"]:
        for who, name in (("crowd", "only the crowd"), ("tsan", "only ThreadSanitizer")):
            if pairs := row.get("races", {}).get(who):
                yield f"{row['name']}, {name}: {', '.join(pairs)}"


def table4_grid(data):
    lines = [["program", "users", "executions", "waited s", "ran s", "s per user", "average %", "max %", "aggregate %", "in the paper"]]
    for row in data["rows"]:
        if "note" in row:
            continue
        cost, paper = row["cost"], PAPER.get(row["name"])
        lines.append([row["name"], str(cost["users"]), str(cost["results"]), f"{cost['seconds of waiting']:.2f}", f"{cost['seconds of running']:.1f}",
                      f"{cost['seconds of running'] / max(cost['users'], 1):.2f}", *(f"{cost[k]:.2f}" for k in (MEAN, MOST, AGGREGATE)), f"{paper['aggregate']:.2f}" if paper else "-"])
    return lines


def users_grid(data):
    names = ("plain again", "asleep", "idle", "validating", "tsan")
    lines = [["program", "plain s", *(f"{n} %" for n in names), "accounted %", "results", "validating in the paper", "tsan in the paper"]]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], *("-" for _ in lines[0][2:])])
            continue
        paper = PAPER.get(row["name"])
        cells = [plus_minus(*row["cells"][n]) if n in row["cells"] else "-" for n in names]
        lines.append([row["name"], f"{row['plain']:.2f}", *cells, f"{accounted(row):.2f}", str(row["accounted"]["results"]), *([f"{paper['user']:.2f}", f"{paper['slow']:.0f}"] if paper else ["-", "-"])])
    values = {n: [row["cells"][n][0] for row in data["rows"] if n in row.get("cells", {})] for n in names}
    for title, of, paper in (("geometric mean", statistics.geometric_mean, PAPER_ALL["user"]), ("maximum", max, PAPER_ALL["most"])):
        counted = [accounted(row) for row in data["rows"] if "accounted" in row]
        most = (max if of is max else statistics.fmean)(counted) if counted else 0
        lines.append([title, "", *(f"{100 * (of(values[n]) - 1):+.1f}" if values[n] else "-" for n in names), f"{most:.2f}", "", f"{paper:.2f}", ""])
    return lines


def accounted(row):
    return 100 * row["accounted"]["waited_s"] / row["accounted"]["run_s"] if row["accounted"]["run_s"] else 0


def idle_grid(data):
    lines = [["kernel", "plain", "idle", "more", "more, %"]]
    good = [row for row in data["rows"] if "note" not in row]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], "-", "-", "-"])
        else:
            lines.append([row["name"], f"{row['plain']:,}", f"{row['idle']:,}", f"{row['idle'] - row['plain']:,}", f"{100 * (row['ratio'] - 1):+.3f}"])
    for title, of in (("geometric mean", statistics.geometric_mean), ("maximum", max)):
        lines.append([title, "", "", "", f"{100 * (of([row['ratio'] for row in good]) - 1):+.3f}" if good else "-"])
    return lines


def grids(part, data):
    """Titles and tables, for people at a terminal."""
    if part == "users":
        return [("Table 2 and figure 5", users_grid(data))]
    if part == "idle":
        return [("Idle, by instructions", idle_grid(data))]
    return [("Table 1", table1_grid(data)), ("Table 3", table3_grid(data)), ("Table 4", table4_grid(data))]


def crowd_markdown(data):
    sound = [row["name"] for row in data["rows"] if row.get("style") == "sound"]
    about = f"For programs in which every pair has a common lock, all pairs that may race are candidates (`hive add --style=sound`): {', '.join(sound)}." if sound else ""
    parts = [wrapped(where(data)), wrapped(ABOUT_CROWD.format(**data)), wrapped(ABOUT_TABLE1.format(sound=about)), table.markdown_lines(table1_grid(data))]
    parts += [wrapped(ABOUT_TABLE3), table.markdown_lines(table3_grid(data))]
    if lines := list(differences(data)):
        parts.append("\n".join(f"- {line}" for line in lines))
    parts += [wrapped(ABOUT_TABLE4), table.markdown_lines(table4_grid(data))]
    if old := [row["name"] for row in data["rows"] if row.get("asked", {}).get("in_advance", "asked" in row)]:
        parts.append(wrapped(IN_ADVANCE.format(", ".join(old))))
    return section("What a crowd finds", *parts)


def users_markdown(data):
    parts = [wrapped(where(data)), wrapped(ABOUT_USERS.format(**data)), wrapped(ABOUT_ACCOUNTED), table.markdown_lines(users_grid(data))]
    return section("What a user notices", *parts)


def idle_markdown(data):
    return section("What an idle agent costs", wrapped(where(data)), wrapped(ABOUT_IDLE), table.markdown_lines(idle_grid(data)))


def joined(part, data, order):
    """With the earlier rows that were not measured this time."""
    path = harness.DOCS / "hive.json"
    before = json.loads(path.read_text(encoding="utf-8")).get(part, {}) if path.exists() else {}
    rows = {row["name"]: row for row in (*before.get("rows", []), *data["rows"])}
    return dict(data, rows=[rows[name] for name in order if name in rows])
