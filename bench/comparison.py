"""What bench/compare knows about the papers: their figures, the patterns they show, and the page that puts ours
beside them.

FastTrack is Flanagan and Freund, CACM 2010, table 1 (F1). The comparison is Yu, Park, Chun and Bae, ETRI Journal
2017, tables 2 (E2, small programs) and 3 (E3, large ones). Their warnings stand in bench/programs/EXPECTED.tsv;
their times here.
"""
import math
import os
import pathlib
import platform
import re
import subprocess
import textwrap

# Slowdowns over native of F1: empty, then the others in this order.
F1 = ("eraser", "multirace", "goldilocks", "basicvc", "djit", "fasttrack")
F1_SLOWDOWN = {
    "crypt": (7.6, 14.7, 54.8, 77.4, 84.4, 54.0, 14.3),
    "lufact": (2.6, 8.1, 42.5, None, 95.1, 36.3, 13.5),
    "moldyn": (5.6, 9.1, 45.0, 17.5, 111.7, 39.6, 10.6),
    "montecarlo": (4.2, 8.5, 32.8, 6.3, 49.4, 30.5, 6.4),
    "raytracer": (4.6, 6.7, 17.9, 32.8, 250.2, 18.1, 13.1),
    "sparse": (5.4, 11.3, 29.8, 64.1, 57.5, 27.8, 14.8),
    "series": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    "sor": (4.4, 9.1, 16.9, 63.2, 24.6, 15.8, 9.3),
    "tsp": (4.4, 24.9, 8.5, 74.2, 390.7, 8.2, 8.9),
    "elevator": (1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1),
    "philo": (1.1, 1.0, 1.1, 7.2, 1.1, 1.1, 1.1),
    "hedc": (1.1, 0.9, 1.1, 1.1, 1.1, 1.1, 1.1),
}
# Seconds of E2, slowdowns of E3.
E2 = ("fasttrack", "acculock", "simplelock", "multilock", "cp")
E2_SECONDS = {
    "array": (0.3, 0.4, 0.4, 0.4, 2.0),
    "critical": (0.3, 0.3, 0.3, 0.3, 2.2),
    "airline": (0.4, 0.5, 0.5, 0.3, 2.4),
    "account": (0.8, 0.8, 0.8, 0.8, 2.3),
    "pingpong": (0.3, 0.3, 0.3, 0.3, 2.4),
    "bbuffer": (0.4, 0.5, 0.5, 0.6, 3.7),
    "bubblesort": (0.6, 0.6, 0.5, 1.1, 3.2),
    "bufwriter": (0.3, 0.3, 0.3, 0.3, 2.7),
    "mergesort": (0.4, 0.4, 0.3, 0.4, 3.2),
    "raytracer": (0.5, 0.6, 0.5, 0.7, 5.3),
    "montecarlo": (0.5, 0.4, 0.4, 0.4, 15.6),
    "moldyn": (1.5, 2.2, 0.9, 6.7, 6.4),
}
E3_SLOWDOWN = {
    "raytracer": (95.0, 135.8, 90.7, 281.8),
    "montecarlo": (9.1, 10.6, 9.3, 12.8),
    "moldyn": (57.5, 85.8, 68.5, 159.8),
}
NEW = ("shb", "wcp", "syncp", "osr")
# Under this many seconds `empty` measures starting a process.
SHORTEST = 0.05


class Expected:
    """EXPECTED.tsv."""

    def __init__(self, file):
        self.programs, self.count, self.paper, self.comment, self.real, self.hidden = [], {}, {}, {}, {}, {}
        for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
            if line.startswith("#") or line.startswith("program\t"):
                continue
            program, detector, count, paper, comment = line.split("\t")
            if detector == "real":
                self.programs.append(program)
                plain = re.sub(r"\(hidden\)", "", comment)
                self.real[program] = re.findall(r"\w+", plain)
                if len(self.real[program]) != int(count):
                    raise ValueError(f"EXPECTED.tsv: {program} has {count} real races and names '{comment}'")
                continue
            self.count[program, detector] = int(count)
            self.paper[program, detector] = dict(part.split(" ") for part in paper.split(", ") if part)
            self.comment[program, detector] = comment


def disagreements(expected, program, rows):
    """Where what was found is not what EXPECTED.tsv says, or not what the detector promises."""
    wrong = []
    for row in rows:
        name, variables = row["name"], row["variables"]
        if row["error"]:
            wrong.append(f"{name}: {row['error']}")
        elif (program, name) in expected.count:
            if len(variables) != expected.count[program, name]:
                wrong.append(f"{name} reports {len(variables)}, not {expected.count[program, name]}: "
                             f"{' '.join(variables)}")
        elif name == "shb":
            if len(variables) != expected.count[program, "fasttrack"]:
                wrong.append(f"shb reports {len(variables)}, fasttrack {expected.count[program, 'fasttrack']}")
        elif name in NEW:
            if row["false_positives"]:
                wrong.append(f"{name} is sound and reports {' '.join(row['false_positives'])}, which does not race")
            if len(variables) < expected.count[program, "fasttrack"]:
                wrong.append(f"{name} reports {len(variables)}, less than happens-before")
    return wrong


def patterns(found):
    """What the papers show, and whether ours do: (key, sentence, holds). found: program to detector to row.
    Patterns about programs that were left out are left out."""
    def n(program, detector):
        return len(found[program][detector]["variables"])

    def wrong(program, detector):
        return len(found[program][detector]["false_positives"])

    def have(*programs):
        return all(found.get(p, {}).get("fasttrack") for p in programs)

    hybrids = ("acculock", "multilock", "simplelock")
    result = []
    if have("bufwriter"):
        result.append(("bufwriter", "The hybrids find two more races than FastTrack in bufwriter, both real.",
                       all(n("bufwriter", d) == n("bufwriter", "fasttrack") + 2 and not wrong("bufwriter", d)
                           for d in hybrids)))
    if have("mergesort", "raytracer"):
        result.append(("simplelock", "SimpleLock+ misses one race in mergesort and one in raytracer.",
                       all(n(p, "simplelock") == n(p, "multilock") - 1 for p in ("mergesort", "raytracer"))))
    if have("account"):
        result.append(("acculock", "AccuLock gives one false alarm where locks nest (account), MultiLock-HB none.",
                       wrong("account", "acculock") == 1 and wrong("account", "multilock") == 0))
    with_cp = [p for p in found if "cp" in found[p]]
    if with_cp:
        result.append(("cp", f"CP finds what FastTrack finds, in all {len(with_cp)} programs.",
                       all(found[p]["cp"]["variables"] == found[p]["fasttrack"]["variables"] for p in with_cp)))
    joins = [p for p in ("mergesort", "series", "lufact", "sor") if have(p)]
    if joins:
        result.append(("eraser", "Eraser gives false alarms on fork-join and barriers "
                       f"({', '.join(joins)}), FastTrack none.",
                       all(wrong(p, "eraser") > 0 and wrong(p, "fasttrack") == 0 for p in joins)))
    if found:
        precise = ("goldilocks", "basicvc", "djit")
        result.append(("precise", "BasicVC, DJIT+ and Goldilocks report what FastTrack reports.",
                       all(found[p].get(d, {}).get("variables") == found[p]["fasttrack"]["variables"]
                           for p in found if have(p) for d in precise)))
    return result


# ---- The page ----

def table(lines):
    out = ["| " + " | ".join(lines[0]) + " |", "|---|" + "---:|" * (len(lines[0]) - 1)]
    return out + ["| " + " | ".join(line) + " |" for line in lines[1:]]


def ratio(value):
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def warnings(expected, results, detectors, papers):
    """Ours / the paper's, for the programs that the papers have."""
    lines = [["program"] + list(detectors)]
    for program, result in results.items():
        rows = {row["name"]: row for row in result["offline"]["detectors"]}
        cells, known = [], False
        for d in detectors:
            theirs = [expected.paper[program, d][p] for p in papers if p in expected.paper[program, d]]
            known |= bool(theirs)
            ours = str(len(rows[d]["variables"])) if d in rows and not rows[d]["error"] else "-"
            cells.append(f"{ours} / {', '.join(theirs)}" if theirs else ours)
        if known:
            lines.append([program] + cells)
    return table(lines)


def judged(results, detectors):
    """Real races found + false alarms."""
    lines = [["program", "real"] + list(detectors)]
    for program, result in results.items():
        rows = {row["name"]: row for row in result["offline"]["detectors"]}
        some = rows["fasttrack"]
        line = [program, str(len(some["true_positives"]) + len(some["misses"]))]
        for d in detectors:
            row = rows.get(d)
            if not row or row["error"]:
                line.append("-")
            else:
                false = len(row["false_positives"])
                line.append(f"{len(row['true_positives'])}" + (f" + {false} false" if false else ""))
        lines.append(line)
    return table(lines)


def slowdowns(results, kind, detectors, theirs):
    """Over empty; theirs(program, detector) is the paper's figure or None. With the geometric means of both."""
    lines, logs = [["program"] + list(detectors)], {d: ([], []) for d in detectors}
    for program, result in results.items():
        if kind not in result:
            continue
        rows = {row["name"]: row for row in result[kind]["detectors"]}
        if not rows.get("empty") or rows["empty"]["cpu_seconds"] < SHORTEST:
            continue
        line = [program]
        for d in detectors:
            paper, ours = theirs(program, d), None
            if d in rows and not rows[d]["error"]:
                ours = rows[d]["cpu_seconds"] / rows["empty"]["cpu_seconds"]
            line.append((ratio(ours) if ours else "-") + (f" / {ratio(paper)}" if paper else ""))
            for value, log in zip((ours, paper), logs[d]):
                if value:
                    log.append(math.log(value))
        lines.append(line)

    def mean(log):
        return ratio(math.exp(sum(log) / len(log))) if log else "-"
    lines.append(["**geometric mean**"] +
                 [mean(ours) + (f" / {mean(paper)}" if paper else "") for ours, paper in logs.values()])
    return table(lines)


def f1_ratio(program, detector):
    if program not in F1_SLOWDOWN or detector not in F1:
        return None
    value = F1_SLOWDOWN[program][1 + F1.index(detector)]
    return value / F1_SLOWDOWN[program][0] if value else None


def over_fasttrack(results, kind):
    """The hybrids and CP against FastTrack, as the comparison paper has them."""
    lines = [["program"] + list(E2[1:])]
    for program, result in results.items():
        rows = {row["name"]: row for row in result[kind]["detectors"]}
        if rows["empty"]["cpu_seconds"] < SHORTEST:
            continue
        line = [program]
        for i, d in enumerate(E2[1:], 1):
            cell = "-"
            if d in rows and not rows[d]["error"]:
                cell = ratio(rows[d]["cpu_seconds"] / rows["fasttrack"]["cpu_seconds"])
            papers = []
            if program in E2_SECONDS:
                papers.append(f"E2 {E2_SECONDS[program][i] / E2_SECONDS[program][0]:.1f}")
            if program in E3_SLOWDOWN and i < 4:
                papers.append(f"E3 {E3_SLOWDOWN[program][i] / E3_SLOWDOWN[program][0]:.1f}")
            line.append(f"{cell} / {', '.join(papers)}" if papers else cell)
        lines.append(line)
    return table(lines)


def machine():
    clang = subprocess.run([os.environ.get("CLANG", "clang-19"), "--version"], capture_output=True, text=True)
    return f"{os.cpu_count()} cores, Linux {platform.release()}, {(clang.stdout.splitlines() or ['?'])[0]}"


def prose(*sentences):
    return ["", *textwrap.wrap(" ".join(sentences), 110, break_on_hyphens=False), ""]


def page(expected, measured):
    results, rounds = measured["programs"], measured["rounds"]
    found = {p: {row["name"]: row for row in r["offline"]["detectors"]} for p, r in results.items()}
    offline = [d for d in next(iter(found.values())) if d != "empty"]
    out = ["# The detectors on the papers' programs"]
    out += prose("Written by `bench/compare --write`; do not edit. The programs are those of `bench/programs`, written",
                 "anew in C after the papers' descriptions, with 4 threads. F1 is table 1 of FastTrack (CACM 2010), E2",
                 "and E3 are tables 2 and 3 of the comparison in the ETRI Journal (2017). Where a cell has two numbers,",
                 "ours comes first, the paper's after the stroke. Theirs are of Java programs on other machines: what",
                 "can be compared is the pattern.")
    out += ["## The patterns", ""]
    out += table([["pattern", "here"]] +
                 [[text, "holds" if holds else "**does not hold**"] for _, text, holds in patterns(found)])
    out += ["", "## Warnings"]
    out += prose("By distinct global variable, on one recording of each program at its smallest scale. `-`: it did not",
                 "finish. FastTrack's programs:")
    out += warnings(expected, results, F1, ("F1",))
    out += prose("The comparison's programs; its raytracer, moldyn and montecarlo in the small version, with other races",
                 "than the large one:")
    out += warnings(expected, results, E2, ("E2",))
    out += prose("What is real: races found, and false alarms, of all detectors.")
    out += judged(results, offline)
    out += prose("Why some are not the number of real races:")
    out += [f"- {p}, {d}: {c}" for (p, d), c in expected.comment.items()
            if c and d not in ("empty", "real") and p in results]
    out += ["", "## Time"]
    out += prose(f"Machine: {measured['machine']}. Ratios of processor time,",
                 "of one run each." if rounds == 1 else f"of the fastest of {rounds} runs.",
                 f"Programs on which `empty` takes less than {SHORTEST:g} s are left out.")
    out += prose("Over `empty`, reading the same recording. Unpacking it is most of what `empty` does here, and the",
                 "greater part of what the fast detectors do. The papers' figures are their slowdown divided by that of",
                 "their `empty`, which ran inside the program:")[1:]
    out += slowdowns(results, "offline", offline, f1_ratio)
    if any("online" in r for r in results.values()):
        online = [row["name"] for row in next(iter(results.values()))["online"]["detectors"]
                  if row["name"] not in ("native", "record", "empty")]
        out += prose(f"Over `empty`, in the running program (scale {measured['scale']}). `fasttrack` here is the fast",
                     "engine of `deadheat run`; the others go through the laboratory, which takes one event at a time. How",
                     "long the threads wait for each other there depends on how they are scheduled: single figures differ",
                     "from run to run by a factor of two and more, so only the means say something:")
        out += slowdowns(results, "online", online, lambda p, d: None)
    out += prose("Over FastTrack, offline. E2 has seconds and E3 slowdowns; CP was offline in the paper, the others",
                 "online:")
    out += over_fasttrack(results, "offline")
    return "\n".join(out) + "\n"
