#!/usr/bin/env python3
# lines.py races|pairs DIRECTORY FILE.json - the pairs of source lines in a report of `deadheat report` or of
# `deadheat static`, one a line, sorted, each once. An access counts for its innermost frame beneath DIRECTORY.
import json
import os
import sys


def beneath(directory, path):
    return os.path.realpath(path).startswith(os.path.realpath(directory) + os.sep)


def place(frames, directory):
    for frame in frames:
        path = os.path.join(frame.get("dir") or "", frame.get("file") or "")
        if frame.get("line") and beneath(directory, path):
            return "%s:%d" % (os.path.basename(path), frame["line"])
    return None


def races(report, directory):
    for finding in report["findings"]:
        yield [place(access["stack"], directory) for access in finding["accesses"]]


def pairs(report, _):
    for finding in report["findings"]:
        tops = [access["stack"][0] for access in finding["accesses"]]
        yield ["%s:%d" % (os.path.basename(f.get("file", "?")), f.get("line", 0)) for f in tops]


def main():
    kind, directory, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    report = json.loads(text) if text.strip() else {"findings": []}
    found = {" ".join(sorted(p)) for p in (races if kind == "races" else pairs)(report, directory) if None not in p}
    # comm wants the order of the C locale.
    print("\n".join(sorted(found)), end="\n" if found else "")


main()
