#!/usr/bin/env python3
"""Turns the results file, docs/benchmarks.json, into docs/benchmarks.md and docs/benchmarks.svg.

Run on its own, it only rewrites those two files. Ratios are to the native build of the same program in the
same run; the geometric means are over the programs for which both tools have a number, and the page says how
many.
"""
import math
import pathlib
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bars  # noqa: E402  (found only after the line above)
import harness  # noqa: E402

TOOLS = (("deadheat", "deadheat"), ("tsan", "TSan"))
MEASURES = (("wall", "time"), ("cpu", "cpu"), ("rss", "memory"))


def rounds_of(data):
    """How the figures came about, in words."""
    return "one round" if data["rounds"] == 1 else f"medians of {data['rounds']} rounds"


def ratio(row, kind, measure):
    """The ratio to native, or None where either number is missing."""
    native, cell = row["cells"].get("native", {}), row["cells"].get(kind, {})
    if measure not in native or measure not in cell or not native[measure]:
        return None
    return cell[measure] / native[measure]


def means(rows, measure):
    """Geometric means of the ratios of both tools, over the rows that have both; and how many those are."""
    pairs = [[ratio(row, kind, measure) for kind, _ in TOOLS] for row in rows]
    pairs = [p for p in pairs if None not in p]
    if not pairs:
        return None
    return [math.exp(sum(math.log(p[i]) for p in pairs) / len(pairs)) for i in range(len(TOOLS))], len(pairs)


def show(row, kind, measure):
    value = ratio(row, kind, measure)
    if value is not None:
        return f"{value:.2f}"
    return row["cells"].get(kind, {}).get("note") or row["cells"].get("native", {}).get("note") or "-"


def grid(rows, reports):
    """The table as a list of lists of strings, header first."""
    header = ["program", "native s"] + [f"{name} {what}" for _, what in MEASURES for _, name in TOOLS]
    header.insert(header.index("deadheat memory"), "native MB")
    if reports:
        header += [f"{name} races" for _, name in TOOLS]
    lines = [header]
    for row in rows:
        native = row["cells"]["native"]
        line = [row["name"], f"{native['wall']:.2f}" if "wall" in native else native.get("note", "-")]
        for measure, _ in MEASURES:
            if measure == "rss":
                line.append(f"{native['rss'] / 1024:.1f}" if "rss" in native else "-")
            line += [show(row, kind, measure) for kind, _ in TOOLS]
        if reports:
            line += [str(row["cells"].get(kind, {}).get("races", "-")) for kind, _ in TOOLS]
        lines.append(line)
    last = ["geometric mean", ""]
    for measure, _ in MEASURES:
        if measure == "rss":
            last.append("")
        mean = means(rows, measure)
        last += [f"{m:.2f}" for m in mean[0]] if mean else ["-", "-"]
    return lines + [last + [""] * (len(header) - len(last))]


def text(data, reports=False):
    return aligned(grid(data["rows"], reports))


def aligned(lines, left=(0,)):
    """For a terminal; the columns in `left` are text, the others numbers."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    out = ""
    for line in lines:
        cells = [c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        out += "  ".join(cells).rstrip() + "\n"
    return out


def markdown_table(data, reports):
    lines = grid(data["rows"], reports)
    lines[-1] = [f"**{c}**" if c else "" for c in lines[-1]]
    return markdown_lines(lines)


def markdown_lines(lines, left=(0,)):
    out = "| " + " | ".join(lines[0]) + " |\n"
    out += "|" + "".join("---|" if i in left else "---:|" for i in range(len(lines[0]))) + "\n"
    return out + "".join("| " + " | ".join(line) + " |\n" for line in lines[1:])


def analysis_grid(data):
    """Detectors on a trace: rates, and time relative to `empty`."""
    lines = [["detector", "million events/s", "time / empty", "MB", "bytes per event, second half"]]
    for row in data["analysis"]["rows"]:
        line = [row["name"], f"{row['rate'] / 1e6:.1f}", f"{row['to_empty']:.2f}"]
        lines.append(line + [f"{row['end'] / 2**20:.0f}", f"{row['growth']:.2f}"])
    for row in data["analysis"]["text"]:
        line = [f"{row['name']}, from text", f"{row['rate'] / 1e6:.1f}", f"{row['to_empty']:.2f}"]
        lines.append(line + [f"{row['end'] / 2**20:.0f}", f"{row['growth']:.2f}"])
    return lines


def recording_grid(data):
    """What recording costs, and how fast the recording is read back."""
    lines = [["kernel", "million events", "bytes per event", "wall / empty", "cpu / empty"]]
    lines[0] += ["empty, million events/s", "fasttrack, million events/s"]
    for row in data["recordings"]:
        if "note" in row:
            lines.append([row["name"], row["note"], "-", "-", "-", "-", "-"])
            continue
        empty, record = row["cells"]["empty"], row["cells"]["record"]
        line = [row["name"], f"{row['events'] / 1e6:.1f}", f"{row['bytes']:.2f}"]
        line += [f"{record[m] / empty[m]:.2f}" for m in ("wall", "cpu")]
        lines.append(line + [f"{row['rates'][name] / 1e6:.1f}" for name in ("empty", "fasttrack")])
    return lines


def traces_text(data):
    return aligned(analysis_grid(data)) + "\n" + aligned(recording_grid(data))


INTRODUCTION = """
Written by `bench/table.py` from `docs/benchmarks.json`; do not edit. `make bench` measures the kernels, how their cost
grows, the real programs, compilation, the time to the first report, recording and analysing traces, and operations on
histories, and prints which bars were met; with `BENCH=--write` it writes this page.

Each program is built three ways with the same flags (`-O2 -g -pthread`): by plain clang, by `deadheat cc`, and by clang
with `-fsanitize=thread` (TSan, ThreadSanitizer). The three builds alternate within every round. The numbers are ratios
to the native build in the same rounds: wall time, processor time (cpu) and peak resident memory. Lower is better. The
output of every run is compared with that of the native build. Where a program itself needs next to no memory (see the
column "native MB"), its ratio shows the fixed size of the detector. A kernel run is stopped at a time limit, 90 seconds
by default; it then has no ratio, and the table says so. Programs run with two threads unless their name says
otherwise; a kernel measured with both two and four threads counts twice in the means.
"""

ABOUT_RACES = """
Races are the distinct reports over all rounds, each assessed in [real-programs.md](real-programs.md). The times of
memcached, redis and unbound are those of their clients, which use part of the two cores; memory and processor time are
the servers' own.
"""


ABOUT_ANALYSIS = """
A trace of {events} million events (16 threads, 64 locks, 100,000 variables, most of which are not in any cache; one event in
six is a lock operation), converted to .dht ({bytes:.1f} bytes per event) and read by one detector after another on one
core. Times are processor time and include opening, reading and decoding the trace; the rate is that of the best round.
`empty` does nothing with the events. The last column is how much the detector's memory grew during the second half of
the trace. The last rows read the same trace as STD text.
"""

ABOUT_RECORDING = """
Each kernel under `deadheat record`, including everything it does (packing, writing, and resolving function names at
exit), relative to `deadheat run --detector=empty`, in which every check in the instrumented code passes and no event is
handed over; then the rate at which the recording is read.
"""


ABOUT_HISTORY = """
Gigabytes of program memory that `dh_lard_clear`, `dh_lard_copy` and `dh_lard_move` (`<deadheat/lard.h>`) process per
second of processor time, in calls of the size given in the column title: on memory that was never accessed, and on
memory that one thread has written. The last two rows of each group are a copy by an odd distance, in which bytes change
their position within words, and a move, which also clears the source.
"""
HISTORY_ROWS = (("clear", "clear"), ("copy", "copy"), ("copy_shifted", "copy, odd distance"), ("move", "move"))


def history_grid(data):
    """Clearing and copying histories: gigabytes per second."""
    sizes = data["sizes"]
    names = [f"{n >> 20} MiB" if n >> 20 else f"{n >> 10} KiB" if n >> 10 else f"{n} B" for n in sizes]
    lines = [["", *names]]
    for past, title in (("untouched", "never accessed"), ("uniform", "written")):
        for key, name in HISTORY_ROWS:
            rates = [data["rates"][f"{key} {past} {n}"] / 1e9 for n in sizes]
            lines.append([f"{name}, {title}", *(f"{r:.1f}" for r in rates)])
    return lines


def history_markdown(data):
    m = data["machine"]
    where = textwrap.fill(f"{m['cpu']}, Linux {m['kernel']}; best of {data['rounds']} rounds.", 110)
    return f"\n## Histories of memory\n\n{where}\n{ABOUT_HISTORY}\n{markdown_lines(history_grid(data))}"


ABOUT_GROWTH = """
The same work spread over more threads and over more data: processor time relative to the native build with the same
arguments, which makes the same accesses. If a tool's cost per access depended on neither, all its numbers for a
kernel would be the same, except for the effects that caches and, with more threads than cores, the scheduler have on the native
build. A run that exceeded its time limit was stopped.
"""


def growth_cell(native, cell):
    if "cpu" in native and "cpu" in cell and native["cpu"]:
        return f"{cell['cpu'] / native['cpu']:.1f}"
    return cell.get("note") or native.get("note") or "-"


def growth_grid(data):
    """A row for each kernel, volume and tool; a column for each number of threads."""
    counts = data["threads"]
    lines = [["kernel, data, tool", *(f"{n} thread{'s' if n > 1 else ''}" for n in counts)]]
    for row in data["rows"]:
        for kind, name in TOOLS:
            cells = zip(row["cells"]["native"], row["cells"][kind])
            title = f"{row['name']}, {row['volume']}x, {name}"
            lines.append([title, *(growth_cell(native, cell) for native, cell in cells)])
    return lines


def growth_markdown(data):
    about = textwrap.fill(ABOUT_GROWTH.strip(), 110)
    m = data["machine"]
    text = f"{m['cpu']}, {m['cores']} cores; {rounds_of(data)}. Work: {data['scale']}% of the usual amount."
    where = textwrap.fill(text, 110)
    return f"\n## Growth\n\n{where}\n\n{about}\n\n{markdown_lines(growth_grid(data))}"


ABOUT_FIRST = """
Seconds from the start of the program to the last line of its first report on standard error, symbolised, with default
settings (ThreadSanitizer uses llvm-symbolizer-19 from the package llvm-19); if not all runs had a report, the number of
those that did is in parentheses. Then the number of distinct races, identified by the lines of their two accesses, that
a whole run reports (in the median run, and in all runs together), and how many of these both tools reported. The demo
is the README's example; memcached runs the workload above, but measured from its start; sqlite is two tests of its
`threadtest3`, which run for 20 seconds each. A run that takes longer than {timeout} seconds is stopped, and counts as
"without end". These two tests were chosen because deadheat had reported races in them; tests in which only
ThreadSanitizer might report a race were not examined, so the sqlite rows favour deadheat.
[real-programs.md](real-programs.md) assesses the races, including those that are not real.
"""


def first_grid(data):
    """The time to the first report, and what was reported."""
    header = ["program", "deadheat s", "TSan s"]
    header += ["deadheat races", "TSan races", "deadheat, all runs", "TSan, all runs", "in both"]
    return [header] + [first_line(row) for row in data["rows"]]


def first_line(row):
    cells = [row["cells"].get(kind, {"note": "-"}) for kind, _ in TOOLS]
    line = [row["name"]]
    for cell in cells:
        endless = f", {cell['endless']} without end" if cell.get("endless") else ""
        if "first" not in cell:
            line.append(cell.get("note", "none") + endless)
        else:
            missed = f" ({cell['seen']} of {cell['runs']} runs)" if cell["seen"] < cell["runs"] else ""
            line.append(f"{cell['first']:.2f}{missed}{endless}")
    line += [f"{cell['races']:g}" if "races" in cell else "-" for cell in cells]
    pairs = [{tuple(pair) for pair in cell.get("all", [])} for cell in cells]
    return line + [str(len(p)) for p in (*pairs, pairs[0] & pairs[1])]


def first_text(data):
    return aligned(first_grid(data))


def first_markdown(data):
    about = textwrap.fill(ABOUT_FIRST.strip().format(timeout=data.get("timeout", 90)), 110)
    return f"\n## The first report\n\n{conditions(data)}\n\n{about}\n\n{markdown_lines(first_grid(data))}"


def traces_markdown(data):
    events = f"{data['analysis']['events'] / 1e6:g}"
    about = ABOUT_ANALYSIS.format(events=events, bytes=data["analysis"]["bytes"])
    out = f"\n## Detectors offline\n\n{conditions(data)}\n{about}\n{markdown_lines(analysis_grid(data))}"
    return out + f"\n## Recording\n{ABOUT_RECORDING}\n{markdown_lines(recording_grid(data))}"


def conditions(data):
    m = data["machine"]
    text = (
        f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB; {m['system']}, Linux {m['kernel']};"
        f" {m['clang']}. {data['threads']} threads; {rounds_of(data)}."
    )
    if data.get("scale", 100) != 100:
        text += f" Work: {data['scale']}% of the usual amount."
    return textwrap.fill(text, 110)


def markdown(results):
    out = f"# Benchmarks\n{INTRODUCTION}\n![Time and memory, as ratios to native](benchmarks.svg)\n"
    for part, title, reports in (("kernels", "Kernels", False), ("real", "Real programs", True)):
        if part not in results:
            continue
        data = results[part]
        out += f"\n## {title}\n\n{conditions(data)}\n\n{markdown_table(data, reports)}"
        mean = means(data["rows"], "wall")
        if mean:
            out += f"\nThe means are over the {mean[1]} rows that have all three numbers.\n"
        if reports:
            out += ABOUT_RACES
    out += together(results)
    out += compile_markdown(results["compile"]) if "compile" in results else ""
    out += prune_markdown(results["prune"]) if "prune" in results else ""
    out += bars_markdown(results) if "kernels" in results and "real" in results else ""
    out += growth_markdown(results["growth"]) if "growth" in results else ""
    out += first_markdown(results["first"]) if "first" in results else ""
    out += traces_markdown(results["traces"]) if "traces" in results else ""
    return out + history_markdown(results["history"]) if "history" in results else out


def together(results):
    """Both parts combined: every row counts once."""
    if not ("kernels" in results and "real" in results):
        return ""
    rows = results["kernels"]["rows"] + results["real"]["rows"]
    out = "\n## Combined\n\n| geometric mean over | deadheat | TSan |\n|---|---:|---:|\n"
    for measure, title in MEASURES:
        mean = means(rows, measure)
        if mean:
            (ours, theirs), n = mean
            out += f"| {title}, {n} programs | {ours:.2f} | {theirs:.2f} |\n"
    return out


ABOUT_BARS = """
Upper limits for deadheat, each relative to ThreadSanitizer or to the native build in the same run. Time is wall time,
except for the compiler, where it is processor time; memory is the peak; means are geometric. For a run that was stopped,
only the limit is known: such numbers carry a sign (> at least, < at most), enter the means at the limit, and never
count as meeting a bar that they might miss.
"""


def bars_markdown(results):
    about = textwrap.fill(ABOUT_BARS.strip(), 110)
    out = f"\n## The bars\n\n{about}\n\n{markdown_lines(bars.bars(results), left=(0, 4))}"
    return out + f"\nProgram by program:\n\n{markdown_lines(bars.programs(results), left=(0, 5))}"


def compile_grid(data):
    """What compiling costs, and the code that comes out."""
    lines = [["", "native", "deadheat", "TSan"]]
    cells = [data["cells"][kind] for kind in harness.KINDS]
    for title, key, unit in (("processor s", "cpu", 1), ("peak MB", "rss", 1024), ("code, KB", "code", 1024)):
        lines.append([title, *(f"{c[key] / unit:.1f}" if key in c else c.get("note", "-") for c in cells)])
    return lines


def compile_markdown(data):
    m = data["machine"]
    text = f"SQLite's amalgamation, `{' '.join(harness.FLAGS)} -c`. {m['cpu']}; {rounds_of(data)}."
    return f"\n## Compiling\n\n{textwrap.fill(text, 110)}\n\n{markdown_lines(compile_grid(data))}"


ABOUT_PRUNE = """
The kernels built with `--dh-prune`: the share of checks omitted from the code, the share of accesses no longer checked at
run time (every loop iteration counts, even where one check covers the whole loop), and processor time relative to the
native build, with all checks and pruned.
"""


def share(counts):
    return f"{100 * counts[0] / counts[1]:.1f}%" if counts and counts[1] else "-"


def prune_grid(data):
    """What omitting unnecessary checks gains: their share, and time."""
    lines = [["", "checks", "omitted", "accesses unchecked", "all checks", "pruned"]]
    for row in data["rows"]:
        line = [row["name"], str(row["static"][1]) if "static" in row else "-"]
        line += [share(row.get("static")), share(row.get("dynamic"))]
        for kind in ("full", "pruned"):
            cost = row[kind] / row["native"] if kind in row and row.get("native") else None
            line.append(f"{cost:.2f}" if cost else row.get("note", "-"))
        lines.append(line)
    return lines


def prune_markdown(data):
    about = textwrap.fill(ABOUT_PRUNE.strip(), 110)
    return f"\n## Pruning\n\n{conditions(data)}\n\n{about}\n\n{markdown_lines(prune_grid(data))}"


class Chart:
    """A bar chart with logarithmic axis, one panel a measure, two bars a program, as plain SVG."""

    BAR, GAP, LABEL, PANEL, TOP = 9, 8, 130, 330, 58
    COLOURS = {"deadheat": "#1b6ca8", "tsan": "#d98324"}

    def __init__(self, rows):
        self.rows = rows
        self.step = 2 * self.BAR + self.GAP
        self.height = self.TOP + self.step * len(rows) + 30
        self.width = self.LABEL + 2 * (self.PANEL + 40)
        self.parts = []

    def text(self, x, y, content, anchor="start", size=11, weight="normal"):
        content = content.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{content}</text>'
        )

    def rect(self, x, y, w, h, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}"/>')

    def panel(self, left, measure, title):
        values = [ratio(row, kind, measure) for row in self.rows for kind, _ in TOOLS]
        top = max([v for v in values if v] + [2])
        decades = math.log(max(top, 2) * 1.25)
        bottom = self.TOP + self.step * len(self.rows)
        self.text(left, self.TOP - 26, title, weight="bold", size=12)
        for tick in (1, 2, 5, 10, 20, 50, 100, 200):
            x = left + math.log(tick) / decades * self.PANEL
            if x <= left + self.PANEL:
                self.parts.append(
                    f'<line x1="{x:.1f}" y1="{self.TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
                )
                self.text(x, self.TOP - 10, f"{tick}x", anchor="middle", size=9)
        for i, row in enumerate(self.rows):
            for j, (kind, _) in enumerate(TOOLS):
                y = self.TOP + i * self.step + j * self.BAR
                value = ratio(row, kind, measure)
                if value is None:
                    self.text(left + 3, y + self.BAR - 1, show(row, kind, measure), size=8)
                    continue
                w = max(math.log(max(value, 1)) / decades * self.PANEL, 1)
                self.rect(left, y, w, self.BAR - 1, self.COLOURS[kind])
                self.text(left + w + 3, y + self.BAR - 1, f"{value:.1f}", size=8)

    def svg(self):
        for i, row in enumerate(self.rows):
            self.text(self.LABEL - 8, self.TOP + i * self.step + self.BAR + 3, row["name"], anchor="end")
        self.panel(self.LABEL, "wall", "Wall time, ratio to native")
        self.panel(self.LABEL + self.PANEL + 40, "rss", "Peak memory, ratio to native")
        x = self.LABEL
        for kind, name in TOOLS:
            self.rect(x, 8, 11, 11, self.COLOURS[kind])
            self.text(x + 16, 18, name)
            x += 110
        return self.document()

    def document(self):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="sans-serif">'
        )
        body = [head, f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>'] + self.parts
        return "\n".join(body + ["</svg>", ""])


def write():
    results = harness.load_results()
    rows = [row for part in ("kernels", "real") if part in results for row in results[part]["rows"]]
    rows = [row for row in rows if "wall" in row["cells"].get("native", {})]
    for part, title in (("kernels", "kernels: mean"), ("real", "real: mean")):
        if part in results:
            rows += mean_rows(results[part]["rows"], title)
    (harness.DOCS / "benchmarks.md").write_text(markdown(results), encoding="utf-8")
    (harness.DOCS / "benchmarks.svg").write_text(Chart(rows).svg(), encoding="utf-8")


def mean_rows(rows, title):
    """The geometric means as one more row of ratios (native is 1), for the chart."""
    cells = {"native": {"wall": 1, "rss": 1}, "deadheat": {}, "tsan": {}}
    for measure in ("wall", "rss"):
        mean = means(rows, measure)
        if not mean:
            return []
        for (kind, _), value in zip(TOOLS, mean[0]):
            cells[kind][measure] = value
    return [{"name": title, "cells": cells}]


if __name__ == "__main__":
    if not harness.RESULTS.exists():
        sys.exit("bench/table.py: there are no results yet; measure with --write first")
    write()
