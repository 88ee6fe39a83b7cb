"""The bars: upper limits for deadheat, each relative to ThreadSanitizer or the native build in the same run.

A number that is missing because a run was stopped at its time limit still says something: the ratio is at least, or at
most, what the limit makes it. Such numbers carry a sign, and enter the means at their limit; those means then carry a
sign too.
"""
import math

EVERY_TIME, REAL_TIME, ALL_TIME = 1.1, 0.7, 0.55
ALL_MEMORY, EVERY_MEMORY, LARGE = 1.0, 1.4, 20 * 1024  # kilobytes of the native build
SLOWDOWN = 30
ALONE, ALONE_KERNEL = 1.5, "alone"
COMPILE_TIME, CODE_SIZE = 1.3, 1.0
FIELD_EVERY, FIELD_MEAN = 1.05, 1.01  # of a chase, at r_max 5% and 1%
ASLEEP_EVERY, ASLEEP_MEAN = 1.01, 1.005  # of a field build that is not being chased
CAPER = (  # of `caper`: the configuration, what it is, and its mean over all programs
    ("escape analysis", "a Caper build with escape analysis only", 1.05),
    ("steady state", "a run in steady state", 1.09),
    ("first run", "a first run", 1.27),
)
ABSENT = ("no source", "not built")


class Number:
    """A ratio that is exact, or (sign) at least or at most what is known."""

    def __init__(self, value, sign="", digits=2):
        self.value, self.sign, self.digits = value, sign, digits

    def __str__(self):
        return f"{self.sign}{self.value:.{self.digits}f}"

    def within(self, bar):
        """Whether it is at most `bar`; None if that is not known."""
        sure = {"": (True, False), ">": (None, False), "<": (True, None), "~": (None, None)}
        return sure[self.sign][self.value > bar]


def ratio(row, over, under, measure):
    """The ratio of two builds of a program, or None. A run that was stopped took longer than its limit."""
    top, bottom = row["cells"].get(over, {}), row["cells"].get(under, {})
    values = [c.get(measure) or (c.get("over") if measure == "wall" else None) for c in (top, bottom)]
    if not all(values) or ("over" in top and "over" in bottom):
        return None
    return Number(values[0] / values[1], ">" if "over" in top else "<" if "over" in bottom else "")


def mean(numbers):
    numbers = [n for n in numbers if n]
    if not numbers:
        return None
    signs = {n.sign for n in numbers} - {""}
    value = math.exp(sum(math.log(n.value) for n in numbers) / len(numbers))
    return Number(value, signs.pop() if len(signs) == 1 else "~" if signs else "")


def line(title, bar, number, remark=""):
    verdict = {True: "yes", False: "NO", None: "unknown"}[number.within(bar) if number else None]
    return [title, f"{bar:g}", str(number) if number else "-", verdict, remark]


def worst(title, bar, named):
    """The largest of several, and which others are over the bar."""
    named = sorted(((n, name) for name, n in named if n), key=lambda p: -p[0].value)
    if not named:
        return line(title, bar, None, "not measured")
    over, unknown = ([p for p in named if p[0].within(bar) is verdict] for verdict in (False, None))
    if not over and not unknown:
        return line(title, bar, *named[0])
    said = [f"{len(over)} of {len(named)} over: {listed([name for _, name in over])}"] if over else []
    if unknown:
        said.append(f"{len(unknown)} of {len(named)} uncertain: {listed([name for _, name in unknown])}")
    return line(title, bar, (over or unknown)[0][0], "; ".join(said))


def listed(names, most=6):
    return "; ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def bars(results):
    """All bars for which there are results, as lines of a table."""
    rows = {part: results[part]["rows"] if part in results else [] for part in ("kernels", "real")}
    every = [(row["name"], row) for part in rows.values() for row in part]
    time = [(name, ratio(row, "deadheat", "tsan", "wall")) for name, row in every]
    memory = [(name, ratio(row, "deadheat", "tsan", "rss")) for name, row in every]
    real = [ratio(row, "deadheat", "tsan", "wall") for row in rows["real"]]
    large = {name for name, row in every if row["cells"].get("native", {}).get("rss", 0) > LARGE}
    measured = sum(n is not None for _, n in time)

    lines = [["bar", "at most", "measured", "met", "remark"]]
    lines.append(worst("time relative to TSan, each program", EVERY_TIME, time))
    count = sum(n is not None for n in real)
    lines.append(line("time relative to TSan, mean of the real programs", REAL_TIME, mean(real), f"{count} programs"))
    lines.append(
        line("time relative to TSan, mean of all programs", ALL_TIME, mean(n for _, n in time), f"{measured} programs")
    )
    lines.append(line("memory relative to TSan, mean of all programs", ALL_MEMORY, mean(n for _, n in memory)))
    lines.append(
        worst("memory relative to TSan, each program over 20 MB", EVERY_MEMORY, [m for m in memory if m[0] in large])
    )
    if rows["kernels"]:
        lines.append(slow_kernels(rows["kernels"]))
    alone = [ratio(row, "deadheat", "native", "wall") for row in rows["kernels"] if row["name"] == ALONE_KERNEL]
    lines.append(line("time relative to native, one thread at a time", ALONE, alone[0] if alone else None, ALONE_KERNEL))
    if "compile" in results:
        row = results["compile"]
        lines.append(
            line("compile time of SQLite, relative to TSan", COMPILE_TIME, ratio(row, "deadheat", "tsan", "cpu"))
        )
        lines.append(line("code size of SQLite, relative to TSan", CODE_SIZE, ratio(row, "deadheat", "tsan", "code")))
    if "field" in results:
        lines += field(results["field"])
    if "caper" in results:
        lines += caper(results["caper"])
    lines.append(unmeasured(every))
    return lines


def ratios(data, name, measure):
    """Of each program that ran in a configuration: the ratio to the plain run, and its interval."""
    return [(row["name"], row["cells"][name][measure]) for row in data["rows"] if name in row["cells"]]


def judged(value, low, high, bar):
    """If the bar is within the 95% interval, it is not known whether it is met."""
    return Number(value, "~" if low <= bar < high else "", digits=3)


def mean_of(intervals):
    logs = [[math.log(v) for v in i] for i in intervals]
    middle = math.fsum(m for m, _, _ in logs) / len(logs)
    half = math.sqrt(math.fsum(((high - low) / 2) ** 2 for _, low, high in logs)) / len(logs)
    return [math.exp(v) for v in (middle, middle - half, middle + half)]


def mean_bar(data, title, name, measure, bar):
    some = [i for _, i in ratios(data, name, measure)]
    number = judged(*mean_of(some), bar) if some else None
    return line(title, bar, number, f"{len(some)} programs")


MEASURES = (("wall", "wall"), ("cpu", "processor"))


def field(data):
    """The bars of `chase`, judged with their confidence intervals."""
    shares = [(f"{row['name']}, {name}", Number(c["share"] / c["rmax"]))
              for row in data["rows"] for name, c in row["cells"].items() if c["rmax"]]
    lines = [worst("time in waits and traps of a chase, relative to r_max, each run", 1, shares)]
    for measure, what in MEASURES:
        asleep = [(name, judged(*i, ASLEEP_EVERY)) for name, i in ratios(data, "asleep", measure)]
        lines.append(worst(f"{what} time asleep, relative to plain, each program", ASLEEP_EVERY, asleep))
        lines.append(mean_bar(data, f"{what} time asleep, relative to plain, mean", "asleep", measure, ASLEEP_MEAN))
        every = [(name, judged(*i, FIELD_EVERY)) for name, i in ratios(data, "r_max 5%", measure)]
        lines.append(worst(f"{what} time of a chase at r_max 5%, relative to plain, each program", FIELD_EVERY, every))
        title = f"{what} time of a chase at r_max 1%, relative to plain, mean"
        lines.append(mean_bar(data, title, "r_max 1%", measure, FIELD_MEAN))
    return lines


def asleep(data):
    """The same bars, judged by what one thread on one processor takes."""
    every = [(name, judged(*i, ASLEEP_EVERY)) for name, i in ratios(data, "field build", "cpu")]
    title = "processor time asleep, one thread, relative to plain"
    return [
        worst(f"{title}, each program", ASLEEP_EVERY, every),
        mean_bar(data, f"{title}, mean", "field build", "cpu", ASLEEP_MEAN),
    ]


def caper(data):
    """The bars of `caper`, geometric means over all programs."""
    return [
        mean_bar(data, f"{what} time of {title}, relative to plain, mean", name, measure, bar)
        for measure, what in MEASURES
        for name, title, bar in CAPER
    ]


def slow_kernels(rows):
    """Kernels beyond SLOWDOWN times native, where TSan is not."""
    names = []
    for row in rows:
        ours, theirs = (ratio(row, kind, "native", "wall") for kind in ("deadheat", "tsan"))
        if ours and theirs and not ours.within(SLOWDOWN) and theirs.within(SLOWDOWN):
            names.append(f"{row['name']} ({ours})")
    title = f"kernels above {SLOWDOWN}x native where TSan is not"
    return [title, "0", str(len(names)), "NO" if names else "yes", listed(names)]


def unmeasured(every):
    """Programs without a ratio because something failed: none of the bars above covers them."""
    names = []
    for name, row in every:
        notes = [c["note"] for c in row["cells"].values() if "note" in c and "over" not in c]
        notes = [n for n in notes if n not in ABSENT]
        if notes:
            names.append(f"{name} ({notes[0]})")
        elif all("over" in row["cells"].get(kind, {}) for kind in ("deadheat", "tsan")):
            names.append(f"{name} (both stopped)")
    return ["programs without a ratio", "0", str(len(names)), "NO" if names else "yes", listed(names)]


def programs(results):
    """Every program compared with TSan; what is over a bar is marked."""
    lines = [["program", "time / TSan", "memory / TSan", "deadheat / native", "TSan / native", ""]]
    for part in ("kernels", "real"):
        for row in results[part]["rows"] if part in results else []:
            time, memory = (ratio(row, "deadheat", "tsan", m) for m in ("wall", "rss"))
            ours, theirs = (ratio(row, kind, "native", "wall") for kind in ("deadheat", "tsan"))
            marks = ["time"] if time and not time.within(EVERY_TIME) else []
            if memory and row["cells"]["native"].get("rss", 0) > LARGE and not memory.within(EVERY_MEMORY):
                marks.append("memory")
            cells = [str(n) if n else "-" for n in (time, memory, ours, theirs)]
            lines.append([row["name"], *cells, f"over: {', '.join(marks)}" if marks else ""])
    return lines
