#!/usr/bin/env python3
# check.py FORM FILE - what a reader of this form finds in the file, in one line for a test to compare.
import csv
import json
import re
import sys
import xml.etree.ElementTree as xml

form, name = sys.argv[1:3]
data = open(name, "rb").read()


def junit():
    suite = xml.fromstring(data).find("testsuite")
    cases = suite.findall("testcase")
    failed = [c for c in cases if c.find("failure") is not None]
    skipped = [c for c in cases if c.find("skipped") is not None]
    counts = [int(suite.get(k)) for k in ("tests", "failures", "skipped")]
    assert counts == [len(cases), len(failed), len(skipped)], counts
    assert all("Fingerprint dh2-" in c.find("failure").text for c in failed)
    return suite.get("name"), *counts, sorted({c.get("classname") for c in cases})


def github():
    told = []
    for line in data.decode().splitlines():
        found = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert found, line
        properties = dict(p.split("=", 1) for p in found[2].split(","))
        assert "%0AFingerprint dh2-" in found[3], line
        told.append((found[1], properties["file"], properties.get("line"), properties["title"]))
    return told


def gitlab():
    issues = json.loads(data)
    for i in issues:
        assert i["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert i["description"] and i["check_name"] and i["location"]["lines"]["begin"] > 0
    assert len({i["fingerprint"] for i in issues}) == len(issues)
    return [(i["severity"], i["location"]["path"], i["location"]["lines"]["begin"]) for i in issues]


def rows():
    text = data.decode()
    assert text.endswith("\r\n") and "\n" not in text.replace("\r\n", "")
    table = list(csv.DictReader(text.splitlines()))
    for row in table:
        assert None not in row and None not in row.values(), row
        assert not any(re.match(r"[=+@\t\r]|-[^0-9]", v) for v in row.values()), row
    return [(r["title"], r["level"], r["baseline"], r["memory"], r["file"], r["line"], r["line_2"]) for r in table]


def lines():
    findings = [json.loads(line) for line in data.decode().splitlines()]
    return [(f["provenance"], f.get("baseline"), f["location"].get("name")) for f in findings]


print({"junit": junit, "github": github, "gitlab": gitlab, "csv": rows, "jsonl": lines}[form]())
