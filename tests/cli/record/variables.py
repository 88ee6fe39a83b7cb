"""variables.py PROGRAM EXPECTED.tsv ANALYSIS - do the detectors find as many variables as they must?

ANALYSIS is the output of `analyze --format=json`. A global with all its members and elements is one variable. Prints a
line for every detector that found another number.
"""
import json
import re
import sys

program, expected, analysis = sys.argv[1:]
rows = [line.rstrip("\n").split("\t") for line in open(expected) if not line.startswith("#")]
wanted = {row[1]: int(row[2]) for row in rows if row[0] == program}
status = 0
report = json.load(open(analysis))
for detector in report["detectors"]:
    names = {re.split(r"[\[.+ ]", f["location"]["display"])[0] for f in report["findings"]
             if f["detector"] == detector["name"]}
    if len(names) != wanted[detector["name"]]:
        print(detector["name"], "finds", *sorted(names), "and not", wanted[detector["name"]])
        status = 1
sys.exit(status)
