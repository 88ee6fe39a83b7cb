"""judge.py WORK SOURCE... - are the lines that are marked in the programs here those that have escaped?

WORK/NAME.tsv is what `deadheat caper export --to=filter` says of the program NAME after its run, and WORK/NAME.without.tsv of the one
that was built without its rule, if it names one (run.sh). Marks are in the source and in escape.h; a mark in escape.h counts if the
program uses what it stands in: of the frame unless it has its own, of prepare() unless it promises nothing. SUITE in the environment
is what the cases are called (default: escape).
"""
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
MARK = re.compile(r"; +// (PRIVATE|ESCAPED)$")


def marks(path, kinds):
    """Pairs of a kind of mark and file:line."""
    found = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = MARK.search(line)
        if mark and mark[1] in kinds:
            found.add((mark[1], f"{path.name}:{number}"))
    return found


def marks_of(source):
    text = source.read_text(encoding="utf-8")
    shared = set()
    if "#define OWN_FRAME" not in text:
        shared.add("ESCAPED")
    if "#define NO_PRIVATE" not in text:
        shared.add("PRIVATE")
    found = marks(source, {"PRIVATE", "ESCAPED"}) | marks(HERE / "escape.h", shared)
    return [{line for kind, line in found if kind == wanted} for wanted in ("PRIVATE", "ESCAPED")]


def escaped_lines(path):
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            _, place, _, _, escaped, _ = line.split("\t")
            if escaped == "yes":
                found.add(pathlib.PurePath(place).name.rpartition(":")[0])
    return found


def judge(work, source):
    """Why the program fails, or None."""
    private, escaped = marks_of(source)
    found = escaped_lines(work / f"{source.stem}.tsv")
    if not escaped:
        return "no line is marked ESCAPED"
    if missing := escaped - found:
        return f"not escaped: {', '.join(sorted(missing))}"
    if wrong := private & found:
        return f"escaped, but private: {', '.join(sorted(wrong))}"
    without = work / f"{source.stem}.without.tsv"
    if without.exists() and escaped <= escaped_lines(without):
        return "its rule is not needed: without it, every line has escaped all the same"
    return None


def main():
    work, suite, failed = pathlib.Path(sys.argv[1]), os.environ.get("SUITE", "escape"), 0
    for source in map(pathlib.Path, sys.argv[2:]):
        why = judge(work, source)
        print(f"FAIL {suite}/{source.stem}: {why}" if why else f"ok {suite}/{source.stem}")
        failed |= why is not None
    return failed


if __name__ == "__main__":
    sys.exit(main())
