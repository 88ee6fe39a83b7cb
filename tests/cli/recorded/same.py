"""same.py NAME - are the races of a run those of its recording, and possible by its source?

In the working directory are, each as .json and as .txt: run, of `deadheat report --all`; analyze, of `deadheat analyze --all`; and
static, of `deadheat static`. Run and recording are executions of their own, and must be told the same way, member by member and word by
word. Of the source, each race of the run must be a finding, which agrees in all that both know. What only one of them can know is listed
below; differs.tsv has what else is different in the program NAME, and why. Prints what differs, or how many races there are if nothing
does.
"""
import json
import os
import re
import sys

# ---- What only one can know ----

# Of a run and of a recording, members of the JSON.
ONE_EXECUTION = {
    "addr", "start", "pid", "tid", "process",  # addresses and numbers of this execution
    "count", "processes",  # a run counts occurrences
    "hint", "discipline",  # a run counts the accesses that it still remembers; a recording has all
    "frame",  # of a variable on a stack: where its function was when somebody looked
    "event", "place", "language_access",  # numbers of events, and the names that a recording has for their places
}
# The same in their texts.
ONE_EXECUTION_TEXT = (
    (r" at 0x[0-9a-f]+", " at 0x"),
    (r" \([pt]id \d+\)", ""),
    (r", seen \d+ times?( in \d+ processes)?$", ""),
    (r"\n  (\d+ of \d+ accesses recorded at|Accesses at these lines were ordered by|It first raced after) [^\n]*", ""),
    (r" \(event \d+\)", ""),
)
# Nothing orders accesses that race, so in a recording the two may stand the other way round. Then the sentence that explains the race names them
# the other way round, and of a range the later access knows the length, the earlier one a word.
#
# Source code does not know the threads that run, their stacks, addresses, or which element of an array it was. It does know that an atomic write
# reads as well ("update"), and where memory was mapped; a run does not. A loop or a string function is one range to a run. On the
# stack of a thread that runs a variable has no name in a run.
MAPPED = ("mmap", "mmap64", "shmat", "sbrk")


def without(value):
    if isinstance(value, dict):
        return {key: without(v) for key, v in value.items() if key not in ONE_EXECUTION}
    if isinstance(value, list):
        return [without(v) for v in value]
    return re.sub("0x[0-9a-f]+", "0x", value) if isinstance(value, str) and value.startswith("memory at ") else value


def load(command):
    """The findings, by fingerprint. One race may be on many elements, of which a run tells the first."""
    found = {}
    with open(command + ".json", encoding="utf-8") as f:
        for race in json.load(f)["findings"]:
            found.setdefault(race["fingerprint"], race)
    return found


def differences(a, b, where):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from differences(a.get(key), b.get(key), f"{where}.{key}")
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{where}[{i}]")
    elif a != b:
        yield f"{where}: {a!r} in the run, {b!r} not"


# ---- A run and its recording ----

def side(access):
    """What tells an access from the other of its race."""
    return [access["thread"]["uid"], access["kind"], without(access["stack"])]


def is_nameless(race):
    """A stack that was not looked at, since its thread was running when the run found the race. A recording knows more."""
    return race["location"]["kind"] == "stack" and "name" not in race["location"]


def turned(race):
    """The race as if the accesses had come the other way round."""
    out = race | {"accesses": race["accesses"][::-1], "explanation": None}
    for access in out["accesses"]:
        if access.get("range"):
            access["size"] = None
            out["location"] = out["location"] | {"offset": None, "element": None}
    return out


def compare(run, recorded):
    for fingerprint in sorted(run.keys() ^ recorded.keys()):
        where = "run" if fingerprint in run else "recording"
        yield f"recorded.only: {(run | recorded)[fingerprint]['identity']} in the {where}"
    for fingerprint in sorted(run.keys() & recorded.keys()):
        a, b = without(run[fingerprint]), without(recorded[fingerprint])
        if side(a["accesses"][0]) != side(b["accesses"][0]):
            a, b = turned(turned(a)), turned(b)
        if is_nameless(a):
            b |= {key: a[key] for key in ("location", "summary")}
        yield from differences(a, b, "recorded")


# ---- Their texts ----

def texts(command):
    """The reports of a text by fingerprint, each as a list of paragraphs."""
    found = {}
    with open(command + ".txt", encoding="utf-8") as f:
        for report in re.findall(r"^WARNING: .*?^  Fingerprint dh2-[0-9a-f]{12}[^\n]*$", f.read(), re.M | re.S):
            for pattern, instead in ONE_EXECUTION_TEXT:
                report = re.sub(pattern, instead, report)
            found.setdefault(report[-16:], report.split("\n\n"))
    return found


def turned_text(report, ranges):
    """The same of a text: accesses, memory, locks and threads."""
    accesses = [re.sub(r"^  Earlier (.)", lambda m: "  " + m[1].upper(), access) for access in report[1:3]]
    if ranges:
        accesses = [re.sub(r"^(  \w+( \w+)?) of (at least )?\d+ bytes?", r"\1", access) for access in accesses]
        report = [re.sub(r"(at the start of|\d+ bytes? into) ", "", part) for part in report]
    return [sorted(accesses), report[3], sorted(report[4:])]


def actor(access):
    """Thread and stack of an access in a text."""
    head, *stack = access.split("\n")
    return re.search(" by thread (.*), holding ", head)[1], stack


def compare_texts(run, run_text, recorded_text):
    yield from differences(sorted(run), sorted(run_text), "text.reports")
    for fingerprint in sorted(run_text.keys() & recorded_text.keys()):
        a, b = run_text[fingerprint], recorded_text[fingerprint]
        if is_nameless(run[fingerprint]):
            b[3] = a[3]
            b[0] = a[0].split("\n")[0] + "\n" + b[0].split("\n", 1)[1]
        if actor(a[1]) != actor(b[1]):
            ranges = any(access.get("range") for access in run[fingerprint]["accesses"])
            a, b = turned_text(a, ranges), turned_text(b, ranges)
        yield from differences(a, b, "text")


# ---- The source ----

def any_element(name):
    return re.sub(r"( ?\+ ?\d+)$|(?<=\[)\d+(?=\])", "", name)


def in_source(race):
    """What a run and an analysis of the source both know."""
    where = race["location"]
    accesses = []
    for a in race["accesses"]:
        top = a["stack"][0] if a["stack"] else {}
        known = {key: top.get(key) for key in ("function", "short", "file", "line", "column")}
        known |= {"kind": a["kind"].replace("update", "write"), "atomic": a["atomic"], "text": a.get("text")}
        known["size"] = None if a.get("range") else a.get("size")
        accesses.append(known | {"locks": [lock["name"] for lock in a["locks"] if lock.get("single", True) and "name" in lock]})
    variable = {"kind": "unknown" if where.get("allocator") in MAPPED else where["kind"]}
    if variable["kind"] in ("global", "tls", "stack"):
        variable |= {key: where.get(key) for key in ("name", "function", "file", "line")}
        variable["display"] = any_element(where.get("display", ""))
    return {"identity": race["identity"], "accesses": sorted(accesses, key=json.dumps), "location": variable}


def compare_source(run, static):
    for fingerprint, race in sorted(run.items()):
        if fingerprint not in static:
            yield f"static.missing: {race['identity']}"
            continue
        a, b = in_source(race), in_source(static[fingerprint])
        for x, y in zip(a["accesses"], b["accesses"]):
            if not x["size"] or not y["size"]:
                x["size"] = y["size"] = None
            if set(y["locks"]) <= set(x["locks"]):  # those that are always held, and that were
                y["locks"] = x["locks"]
        if "name" in a["location"] and not a["location"]["name"]:
            a["location"] = b["location"]  # on a stack that the run could not look at
        yield from differences(a, b, "static")


def told_by_run(report):
    """What both know, of the text of a run: of each access what it does, where, and the line; the memory."""
    accesses = []
    for part in report[1:3]:
        did = re.match(r"  (?:Earlier )?(.*?) at 0x by thread ", part)[1].lower()
        frame, line = re.search(r"^    #\d+ (.*?)(?: \[inlined\])?(?:\n     [^\n#]*)*?\n      > +\d+ \| *([^\n]*)", part, re.M).groups()
        accesses.append([did, frame.replace(" /", " at /"), line])
    memory = report[3]
    named = re.match(r"  Location: (?:global|static|thread-local|stack variable) `(.*?)`.*declared at (.*?:\d+)", memory)
    places = [any_element(named[1]), named[2]] if named else re.findall(r"^    #\d+ .* (/\S+:\d+):\d+", memory, re.M)
    return accesses, places


def told_by_source():
    """The same of the text of an analysis of the source, by the ids of its pairs."""
    found, places = {}, None
    with open("static.txt", encoding="utf-8") as f:
        for line in f:
            if not line.startswith(" "):
                named = re.match(r"(\S+) `(.*)`.* at (/.*:\d+): (?:at most )?\d+ pairs?$", line)
                places = named and ([named[3]] if named[1] == "heap" else [any_element(named[2]), named[3]])
            elif pair := re.match(r"  P\d+ ([0-9a-f]{16})", line):
                accesses = []
                found[pair[1]] = accesses, places
            elif access := re.match(r"    (\S.*?) in (.*), holding ", line):
                accesses.append([access[1], access[2], ""])
            elif line.startswith("    and the same"):
                accesses.append(accesses[0])
            elif text := re.match(r"      +\d+ \| *(.*)", line):
                accesses[-1][2] = text[1]
    return found


def without_size(did):
    return re.sub(r" of (at least )?\d+ bytes?$", "", did).replace("update", "write")


def compare_source_texts(run, static, run_text):
    source = told_by_source()
    for fingerprint in sorted(run.keys() & static.keys()):
        (a, at), (b, memory) = told_by_run(run_text[fingerprint]), source[static[fingerprint]["id"]]
        sized = not any(x.get("range") or not x.get("size") for race in (run, static) for x in race[fingerprint]["accesses"])
        for access in (a + b) * (not sized):
            access[0] = without_size(access[0])
        a, b = ([[x[0].replace("update", "write"), *x[1:]] for x in side] for side in (a, b))
        yield from differences(sorted(a), sorted(b), "static text.accesses")
        if at and memory and not set(memory) <= set(at):
            yield f"static text.memory: {at} in the run, {memory} not"


def main():
    run = load("run")
    static, text = load("static"), texts("run")
    wrong = [] if run else ["run: no race"]
    wrong += [*compare(run, load("analyze")), *compare_texts(run, text, texts("analyze"))]
    wrong += [*compare_source(run, static), *compare_source_texts(run, static, text)]
    with open(os.path.join(os.path.dirname(__file__), "differs.tsv"), encoding="utf-8") as f:
        rows = [row for row in (line.rstrip("\n").split("\t") for line in f if line[0] != "#") if row[0] == sys.argv[1]]
    for _, pattern, _ in rows:
        passed = [line for line in wrong if re.match(pattern.lstrip("?"), line)]
        if not passed and pattern[0] != "?":
            wrong.append(f"differs.tsv: nothing is different in '{pattern}'")
        wrong = [line for line in wrong if line not in passed]
    print("\n".join(wrong) if wrong else len(run))
    sys.exit(bool(wrong))


main()
