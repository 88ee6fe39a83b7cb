"""racy_words.py BASE RECORDS ANALYSIS... - the racy words of a run and of recordings agree?

BASE is the address of the words, as the run that made the RECORDS (JSON Lines of `run --output`) printed it; each
ANALYSIS is BASE=FILE, with the output of `analyze --format=json` in FILE. Prints the racy words of the run, and a line
for every detector that disagrees.
"""
import json
import sys

WORDS = 12


def words_of(base, lo, hi):
    return {w for w in range((lo - base) // 8, (hi - 1 - base) // 8 + 1) if 0 <= w < WORDS}


def words_both_access(base, accesses):
    spans = [(int(a["addr"], 16), int(a["addr"], 16) + a["size"]) for a in accesses]
    return words_of(base, max(s[0] for s in spans), min(s[1] for s in spans))


def from_records(base, path):
    racy = set()
    for line in open(path):
        record = json.loads(line)
        if record["type"] != "race":
            continue
        racy |= words_both_access(base, record["accesses"])
    return racy


def from_analysis(base, report, detector):
    racy = set()
    for finding in report["findings"]:
        if finding["detector"] != detector["name"]:
            continue
        racy |= words_both_access(base, finding["accesses"])
    return racy


expected = from_records(int(sys.argv[1], 16), sys.argv[2])
print("racy:", *sorted(expected))
status = 0
for argument in sys.argv[3:]:
    base, path = argument.split("=", 1)
    report = json.load(open(path))
    for detector in report["detectors"]:
        found = from_analysis(int(base, 16), report, detector)
        if found != expected:
            print(detector["name"], "differs:", *sorted(found))
            status = 1
sys.exit(status)
