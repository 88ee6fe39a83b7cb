#!/usr/bin/env python3
"""pairs.py SOURCE FINDINGS: the pairs of labels of SOURCE in what `caper status --list --format=json` prints, in order.

A site on a line without a label is left out: it is of the program's own machinery.
"""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as source:
    labels = {n: m[1] for n, text in enumerate(source, 1) if (m := re.search(r"/\* ([A-Z]) \*/", text))}
with open(sys.argv[2], encoding="utf-8") as document:
    findings = json.load(document)["findings"]
found = set()
for finding in findings:
    sides = [labels.get(access["stack"][0]["line"]) for access in finding["accesses"]]
    if None not in sides:
        found.add("-".join(sorted(sides)))
print(" ".join(sorted(found)) or "none")
