"""Turns docs/field.json, to which bench/field, bench/chase and bench/steer each contribute a part, into docs/field.md
and its plots.
"""
import json
import math
import textwrap

import bars
import harness
import table

RESULTS = harness.DOCS / "field.json"
PAGE = harness.DOCS / "field.md"


# ---- Cost ----

MEASURES = {"wall": "Wall time, over the plain run", "cpu": "Processor time, over the plain run"}
ABOUT_COST = """
Figure 2 of the paper: the overhead of `chase` for every kernel (two threads) and real program, in percent of the two
plain runs of the same round, ± half of the 95% confidence interval. With six rounds or more, the value is the
Hodges-Lehmann estimate (the median of the means of all pairs of rounds) with the interval of the Wilcoxon signed-rank
test, both robust against outliers; with fewer, it is the geometric mean with Student's interval. The mean over the
programs is geometric; its interval combines theirs, treated as independent. "Plain again" is the second plain run
relative to the first, so it shows the noise. "Asleep" is the field build, with the library linked in and no command
running. The "r_max" columns chase one pair at that r_max, a different pair in each round, drawn from the pairs that the
static analysis proposes ({pairs} in all). LiteHB and FullHB track the program's synchronisation in the field build. The
cost of FullHB is not bounded: a run is killed at four times the plain run ("over 300"), and the plot is cut off at
30%. Configurations that none of the bars below applies to are measured in every fourth round, FullHB in every eighth. The kernels'
work is scaled so that each thread runs for about a second. A process that runs for less than that is granted the budget
of one second (t_min), so it may be slowed down by more than r_max. Wall time is the lifetime of the program, or for
servers the time their client takes; processor time is the program's own.
"""
ABOUT_SHARE = """
As measured by the chase itself: the largest share of a run's time (in runs shorter than a second, of one second) that
was spent waiting, in traps and patching code; the bound is r_max. In parentheses, the average number of traps per run.
"""
ABOUT_SCALED = """
Figure 3 of the paper: kernels that divide the same work among any number of threads. The overhead relative to the plain
run, in percent as above, and the time of the plain run in seconds.
"""


def percent(row, name, measure):
    """A value and half its interval, as in 1.2 ± 0.4; or why there is none."""
    cell = row["cells"].get(name)
    if not cell:
        note = row.get("notes", {}).get(name, "-")
        return note if note.startswith("over") else "refused" if note.startswith("not chased") else "-"
    return plus_minus(*cell[measure])


def plus_minus(value, low, high, digits=1):
    half = (high - low) / 2
    return f"{100 * (value - 1):+.{digits}f}" + (f" ± {100 * half:.{digits}f}" if half < 10 else "")


def overhead_grid(data, measure):
    names = data["configurations"]
    lines = [["program", "plain s", *(f"{n}, %" for n in names)]]
    for row in data["rows"]:
        if row["plain"] is None:
            lines.append([row["name"], row.get("note", "-"), *("-" for _ in names)])
            continue
        lines.append([row["name"], f"{row['plain']:.2f}", *(percent(row, n, measure) for n in names)])
    means = [[i for _, i in bars.ratios(data, n, measure)] for n in names]
    return lines + [["geometric mean", "", *(plus_minus(*bars.mean_of(some)) if some else "-" for some in means)]]


def share_grid(data):
    names = [n for n in data["configurations"] if any(row["cells"].get(n, {}).get("rmax") for row in data["rows"])]
    lines = [["program", "pairs", *names]]
    for row in data["rows"]:
        cells = [row["cells"].get(n) for n in names]
        lines.append(
            [
                row["name"],
                str(row.get("pairs", "-")),
                *(f"{100 * c['share']:.2f}% ({c['traps']:.0f})" if c else "-" for c in cells),
            ]
        )
    return lines


def scaled_grid(data):
    names = data["scaled_configurations"]
    lines = [["kernel", "threads", "plain s", *(f"{n}, {m}, %" for m in ("wall", "cpu") for n in names)]]
    for row in data["scaled"]:
        if row["plain"] is None:
            continue
        lines.append(
            [
                row["name"],
                str(row["threads"]),
                f"{row['plain']:.2f}",
                *(percent(row, n, m) for m in ("wall", "cpu") for n in names),
            ]
        )
    return lines


class Overhead(table.Chart):
    """Figure 2: one bar for each program and configuration, with its interval, on a linear axis of percent."""

    BAR, LABEL, PANEL, TOP = 7, 130, 420, 58
    PALETTE = ("#bbbbbb", "#7b9e87", "#9ecae1", "#4292c6", "#1b6ca8", "#08306b", "#f4c430", "#d98324", "#c98ba4", "#a6541a")

    def __init__(self, data):
        super().__init__([row for row in data["rows"] if row["cells"]])
        self.names = data["configurations"]
        self.step = len(self.names) * self.BAR + self.GAP
        self.height = self.TOP + self.step * len(self.rows) + 30
        cells = [c for row in self.rows for c in row["cells"].values()]
        self.most = max([12.0] + [min(100 * (c[m][0] - 1), 30) for c in cells for m in MEASURES])

    def x(self, left, percent_more):
        low = -self.most / 3
        return left + (min(max(percent_more, low), self.most) - low) / (self.most - low) * self.PANEL

    def panel(self, left, measure, title):
        bottom = self.TOP + self.step * len(self.rows)
        self.text(left, self.TOP - 26, title, weight="bold", size=12)
        for tick in range(-10, 31, 5):
            if -self.most / 3 <= tick <= self.most:
                x = self.x(left, tick)
                colour = "#888" if tick == 0 else "#ddd"
                self.parts.append(
                    f'<line x1="{x:.1f}" y1="{self.TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>'
                )
                self.text(x, self.TOP - 10, f"{tick}%", anchor="middle", size=9)
        for i, row in enumerate(self.rows):
            for j, name in enumerate(self.names):
                if name in row["cells"]:
                    self.bar(
                        left, self.TOP + i * self.step + j * self.BAR, row["cells"][name][measure], self.PALETTE[j]
                    )

    def bar(self, left, y, cell, colour):
        mean, low, high = (self.x(left, 100 * (v - 1)) for v in cell)
        zero, middle = self.x(left, 0), y + (self.BAR - 1) / 2
        self.rect(min(zero, mean), y, max(abs(mean - zero), 1), self.BAR - 1, colour)
        self.parts.append(f'<line x1="{low:.1f}" y1="{middle:.1f}" x2="{high:.1f}" y2="{middle:.1f}" stroke="#333"/>')

    def svg(self):
        for i, row in enumerate(self.rows):
            self.text(self.LABEL - 8, self.TOP + (i + 0.5) * self.step, row["name"], anchor="end")
        for k, (measure, title) in enumerate(MEASURES.items()):
            self.panel(self.LABEL + k * (self.PANEL + 40), measure, title)
        self.legend(self.names)
        return self.document()

    def legend(self, names):
        for j, name in enumerate(names):
            self.rect(self.LABEL + 110 * j, 8, 11, 11, self.PALETTE[j])
            self.text(self.LABEL + 110 * j + 16, 18, name)


class Scaling(Overhead):
    """Figure 3: execution time against the number of threads, one panel a kernel."""

    PANEL, TALL = 220, 200

    def __init__(self, data):
        super().__init__(data)
        self.data, self.names = data, ["plain", *data["scaled_configurations"]]
        self.kernels = sorted({row["name"] for row in data["scaled"] if row["plain"] is not None})
        self.height = self.TOP + self.TALL + 50
        self.width = 80 + max(len(self.kernels), 2) * (self.PANEL + 60)

    def svg(self):
        for k, name in enumerate(self.kernels):
            self.kernel(
                60 + k * (self.PANEL + 60), name, [r for r in self.data["scaled"] if r["name"] == name and r["plain"]]
            )
        self.legend(self.names)
        return self.document()

    def kernel(self, left, name, rows):
        bottom, wide = self.TOP + self.TALL, max(len(rows) - 1, 1)
        series = {
            n: [row["plain"] * row["cells"][n]["wall"][0] for row in rows if n in row["cells"]] for n in self.names
        }
        series["plain"] = [row["plain"] for row in rows]
        most = max(max(values, default=0) for values in series.values()) * 1.1 or 1
        self.text(left, self.TOP - 12, f"{name}, seconds", weight="bold", size=12)
        self.parts.append(f'<path d="M{left} {self.TOP} V{bottom} H{left + self.PANEL}" fill="none" stroke="#888"/>')
        for tick in (0, 0.5, 1):
            self.text(left - 4, bottom - tick / 1.1 * self.TALL, f"{tick * most / 1.1:.1f}", anchor="end", size=9)
        for i, row in enumerate(rows):
            self.text(left + i / wide * self.PANEL, bottom + 14, str(row["threads"]), anchor="middle", size=9)
        self.text(left + self.PANEL / 2, bottom + 30, "threads", anchor="middle", size=10)
        for j, n in enumerate(self.names):
            at = [(left + i / wide * self.PANEL, bottom - v / most * self.TALL) for i, v in enumerate(series[n])]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
            self.parts.append(
                f'<polyline points="{points}" fill="none" stroke="{self.PALETTE[j]}" stroke-width="1.5"/>'
            )


QUICK = """
A quick run on a busy machine: only four kernels, and wide intervals. For reliable figures, run
`bench/field --minutes=35 --write` on a quiet machine.
"""
BAR_HEADER = ["bar", "at most", "measured", "met", "remark"]


def field_markdown(data):
    pairs = sum(row.get("pairs", 0) for row in data["rows"])
    apart = [row["name"] for row in data["rows"] if "load" in row]
    part = " --quick" if data["quick"] else " --small" if data.get("small") else ""
    took = f" in {data['minutes']:.0f} minutes" if "minutes" in data else ""
    how = (
        f"{where(data)} {data['rounds']} rounds{took}; load average at the end: "
        f"{data['load']:.1f}. Measured by `bench/field{part} --write`"
        + (f"; {', '.join(apart)} separately, with `--only`." if apart else ".")
    )
    parts = [wrapped(how), wrapped(QUICK)] if data["quick"] else [wrapped(how)]
    parts += [wrapped(ABOUT_COST.format(pairs=pairs)), "![Overhead of each configuration](field.svg)"]
    for measure, title in MEASURES.items():
        parts += [f"### {title}", table.markdown_lines(overhead_grid(data, measure))]
    parts += refusals(data)
    parts += ["### Waits and traps", wrapped(ABOUT_SHARE), table.markdown_lines(share_grid(data))]
    if data["scaled"]:
        parts += ["### Threads", wrapped(ABOUT_SCALED), "![Time by the number of threads](field-threads.svg)"]
        parts.append(table.markdown_lines(scaled_grid(data)))
    parts += ["### The bars", table.markdown_lines([BAR_HEADER, *bars.field(data)], left=(0, 4))]
    return section("Cost", *parts)


def refusals(data):
    """Why LiteHB and FullHB refuse some programs."""
    lines = [
        f"- {row['name']}: {note.removeprefix('not chased: ')}"
        for row in data["rows"]
        for note in sorted({n for n in row.get("notes", {}).values() if n.startswith("not chased")})
    ]
    return ["Refused, because the synchronisation that orders their threads cannot be tracked:", "\n".join(lines)] if lines else []


def draw(data):
    (harness.DOCS / "field.svg").write_text(Overhead(data).svg(), encoding="utf-8")
    if data["scaled"]:
        (harness.DOCS / "field-threads.svg").write_text(Scaling(data).svg(), encoding="utf-8")


def merged(data):
    """The results that are on the page now, with these rows in the place of theirs."""
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["field"]
    for part, key in (("rows", ("name",)), ("scaled", ("name", "threads"))):
        new = {tuple(row[k] for k in key): dict(row, load=data["load"]) for row in data[part]}
        known[part] = [new.get(tuple(row[k] for k in key), row) for row in known[part]]
    return known


# ---- Asleep ----

ABOUT_ASLEEP = """
Instructions that each kernel executes with one thread, as counted by callgrind: linked by clang with link-time
optimisation, and as a field build that nobody chases. The difference is the dormant library: some ten thousand
instructions at program start (a hundred thousand in C++), nearly all of them in the dynamic loader, and none after
that. Measured by `bench/asleep --write`.
"""


def asleep_grid(data):
    lines = [["kernel", "plain", "field build", "more, %"]]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], "-", "-"])
        else:
            more = f"{100 * (row['ratio'] - 1):+.3f}"
            lines.append([row["name"], f"{row['plain']:,}", f"{row['field']:,}", more])
    mean = f"{100 * (data['mean'] - 1):+.3f}" if data["mean"] else "-"
    return lines + [["geometric mean", "", "", mean]]


def asleep_markdown(data):
    return section("Asleep", wrapped(where(data)), wrapped(ABOUT_ASLEEP), table.markdown_lines(asleep_grid(data)))


ABOUT_ASLEEP_TIME = """
Processor time of the same two programs, with one thread on one processor; in each of {rounds} rounds both are linked
with a random amount of unused code in front of their own, so that effects of alignment are averaged. Percent of the plain
program, ± half of the 95% confidence interval (as above, against two plain runs of the same round and link; "plain again" is the
second). Load average at the end: {load:.1f}. Measured by `bench/asleep --time --write`.
"""


def asleep_time_grid(data):
    names = ("plain again", "field build")
    lines = [["kernel", "plain s", *(f"{n}, %" for n in names)]]
    for row in data["rows"]:
        if "note" in row:
            lines.append([row["name"], row["note"], *("-" for _ in names)])
        else:
            cells = [plus_minus(*row["cells"][n]["cpu"], digits=2) for n in names]
            lines.append([row["name"], f"{row['plain']:.2f}", *cells])
    means = [bars.mean_of([i for _, i in bars.ratios(data, n, "cpu")]) for n in names]
    return lines + [["geometric mean", "", *(plus_minus(*m, digits=2) for m in means)]]


def asleep_time_markdown(data):
    about = wrapped(ABOUT_ASLEEP_TIME.format(**data))
    parts = [wrapped(where(data)), about, table.markdown_lines(asleep_time_grid(data))]
    return section("Asleep: time", *parts, table.markdown_lines([BAR_HEADER, *bars.asleep(data)], left=(0, 4)))


# ---- Steering ----

ABOUT_STEER = """
RaceMob's bench1 to bench4 (SOSP 2013, figures 1 and 7; `bench/programs/steer`), and how many of their races are
found: by steering every pair that the static analysis proposes, in both orders, and by precise detectors, for which
the program enforces one order. In bench1 to bench3 that order hides the race. bench4 has three races, each of which
occurs only with one particular input; all tools were given these inputs. For comparison, table 5 of the paper: RaceMob,
and Portend, which uses a precise detector.
"""
PAPER = {"bench1": ("1/1", "0/1"), "bench2": ("1/1", "0/1"), "bench3": ("1/1", "0/1"), "bench4": ("3/3", "3/3")}

ABOUT_DEFECTS = """
Well-known kinds of concurrency bugs, each re-created from its description as a small program whose usual timing
hides it (`bench/programs/defects`). "Failed" is the number of plain runs that crashed or did not terminate. Then
`chase --all --steer` ran, in either order, until the program crashed or hung and did so again when that record was
replayed (`--replay`): the table shows how many runs it took, what happened, and the two lines involved.
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
Table 2 of the paper, on the racy programs of `bench/programs`: distinct races that are reported at least once and
(in parentheses) at least twice in {trials} trials of `chase --all --style=sound`, with the paper's delay of 10 ms and
r_max of 5%. In a trial, every pair that the static analysis proposes gets one run in each order; the column "in a
trial" gives the fewest and the most races found. (Without `--style=sound` two of the races are not proposed: in
mergesort and raytracer both sides hold a lock, but not the same one.) FastTrack's races are those of one run in which
the program enforces an order; when the program is chased, that order is merely the usual one. Races are distinguished
by the lines of their accesses. "Both" counts the races that FastTrack and the chase report; "missed" lists those that
only FastTrack reports. Those that only the chase reports are hidden by the enforced order. "Refuted" lists reported races
on variables that, by construction of the programs, do not race.
"""
ABOUT_REAL = """
For the real programs, the pairs are the races that FastTrack reports in one run of the same work, and they are chased in
the plain build (`bench/realchase.py`): first all together in one run, several times, with the r_max and delay named in
the column titles; then the remaining ones one by one, in both orders; and finally using happens-before, in the field build (LiteHB). The
chase ends when its time is up. A race is counted in the column in which it was first confirmed.
"""
ABOUT_MISSED = """
Why the others were missed, as far as the runs show. "Not tried one by one" means that time ran out first. Where a line
accesses fewer bytes in the plain build than FastTrack says, either the compiler has merged its access with another line's
or narrowed it, or FastTrack shows another access by the same thread to the same four bytes, as it may when a thread walks
through memory byte by byte ([guarantee.md](design/guarantee.md)). The two accesses of such a pair may never touch the same bytes.
"""


def coverage_line(name, row, each, missed, refuted):
    counts = [
        row["pairs"],
        f"{row['once']} ({row['twice']})",
        row["fasttrack"],
        f"{row['both']} ({row['both_twice']})",
    ]
    return [name, *map(str, counts), each, missed, refuted]


def coverage_grid(data):
    lines = [["program", "pairs", "chase", "FastTrack", "both", "in a trial", "missed", "refuted"]]
    rows = [row for row in data["rows"] if "note" not in row]
    for row in rows:
        each = f"{min(row['each'])} to {max(row['each'])}" if row["each"] else "-"
        lists = [bars.listed(row[key]) or "none" for key in ("missed", "refuted")]
        lines.append(coverage_line(row["name"], row, each, *lists))
    lines += [[row["name"], row["note"], *("-" for _ in lines[0][2:])] for row in data["rows"] if "note" in row]
    sums = {
        key: sum(row[key] for row in rows) for key in ("pairs", "once", "twice", "fasttrack", "both", "both_twice")
    }
    lists = [str(sum(len(row[key]) for row in rows)) for key in ("missed", "refuted")]
    return [*lines, coverage_line("total", sums, "", *lists)]


def coverage_rows():
    """The rows that are on the page now."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return results.get("coverage", {}).get("rows", [])


def real_grid(rows):
    """How the races of real programs were confirmed."""
    ways = list(dict.fromkeys(way for row in rows for way in row["how"] if way != "missed"))
    lines = [["program", "minutes", "load", "runs", "races", *ways, "missed"]]
    for row in rows:
        counts = [row["how"].get(way, 0) for way in (*ways, "missed")]
        facts = [row["name"], f"{row['minutes']:g}", f"{row['load']:.0f}", str(row["runs"]), str(row["fasttrack"])]
        lines.append([*facts, *map(str, counts)])
    return lines


def missed_grid(rows):
    """Missed races by why they are missed."""
    lines = [["program", "why", "races", "which"]]
    for row in rows:
        by = {}
        for name, why in row["why"].items():
            by.setdefault(why, []).append(name)
        lines += [[row["name"], why, str(len(names)), "; ".join(names)] for why, names in sorted(by.items())]
    return lines


def coverage_markdown(data):
    parts = [wrapped(where(data)), wrapped(ABOUT_COVERAGE.format(trials=data["trials"]))]
    parts.append(table.markdown_lines(coverage_grid(data), left=(0, 6, 7)))
    real = [row for row in data["rows"] if "how" in row]
    if real:
        parts += [wrapped(ABOUT_REAL), table.markdown_lines(real_grid(real))]
    if any(row["why"] for row in real):
        parts += [wrapped(ABOUT_MISSED), table.markdown_lines(missed_grid(real), left=(0, 1, 3))]
    return section("Coverage", *parts)


# ---- The page ----

HEAD = """\
# `deadheat chase`: cost, coverage, consequences

Written by `bench/field`, `bench/asleep`, `bench/chase` and `bench/steer` with `--write` (parts of `make bench`) from
`docs/field.json`; do not edit. For how it works, see [design/field.md](design/field.md); for how to use it,
[guide/chase.md](guide/chase.md).
"""


def where(data):
    m = data["machine"]
    return f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB; {m['system']}, Linux {m['kernel']}; {m['clang']}."


def wrapped(text):
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False)


def section(title, *parts):
    return f"\n## {title}\n\n" + "\n".join(f"{p.strip()}\n" for p in parts)


def steer_markdown(data):
    out = section(
        "Races that an accidental order hides",
        wrapped(where(data)),
        wrapped(ABOUT_STEER),
        table.markdown_lines(steer_grid(data)),
    )
    return out + section(
        "Defects that plain runs do not show",
        wrapped(ABOUT_DEFECTS),
        table.markdown_lines(defects_grid(data), left=(0, 4, 5)),
    )


def write(part, data):
    """Replace one part of docs/field.json, and write the page again."""
    harness.save_results(part, data, RESULTS)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if part == "field":
        draw(data)
    PAGE.write_text(HEAD + "".join(page(results[name]) for name, page in PARTS if name in results), encoding="utf-8")


PARTS = (
    ("field", field_markdown),
    ("asleep", asleep_markdown),
    ("asleep_time", asleep_time_markdown),
    ("coverage", coverage_markdown),
    ("steer", steer_markdown),
)
