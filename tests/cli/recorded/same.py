"""same.py RUN.json ANALYZE.json [STATIC.json] - are the races of a run those of its recording, and possible by its source?

RUN.json is of `deadheat report`, ANALYZE.json of `deadheat analyze`, each of an execution of its own: addresses and numbers of
processes differ. Everything else that a report tells must not. Of STATIC.json, of `deadheat static`, each race of the run must be
one finding: what both know, kinds, places and memory, is the same. Prints what differs; prints how many races there are if nothing does.
"""
import json
import os
import re
import sys


def frames(trace):
    return [[f.get(key) for key in ("function", "short", "file", "line", "column", "inlined", "module")] for f in trace]


def thread(t):
    return {"uid": t["uid"], "name": t.get("name"), "parent": t.get("parent"), "at": frames(t.get("created_at", []))}


def access(a):
    return {
        "kind": a["kind"],
        "atomic": a["atomic"],
        "range": a.get("range"),
        # How much of a range is known depends on which access came first, and how much is freed at a time on its address.
        "size": None if a.get("range") else a["size"],
        "thread": thread(a["thread"]),
        "stack": frames(a["stack"]),
        "locks": [(lock.get("name"), lock["mode"], frames(lock.get("acquired_at", []))) for lock in a["locks"]],
    }


def location(where):
    out = {key: value for key, value in where.items() if key not in ("start", "frame")}
    out["module"] = os.path.basename(where.get("module") or "")
    out["allocated_at"] = frames(where.get("allocated_at", []))
    return out


def told(race):
    """The accesses may have been put into another order: nothing orders them."""
    sides = sorted((access(a) for a in race["accesses"]), key=json.dumps)
    same = {key: race.get(key) for key in ("identity", "earlier_fingerprints")}
    same["summary"] = re.sub("0x[0-9a-f]+", "0x", race["summary"])
    return same | {"accesses": sides, "location": location(race["location"])}


def differences(a, b, where):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from differences(a.get(key), b.get(key), f"{where}.{key}")
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{where}[{i}]")
    elif a != b:
        yield f"{where}: {a!r} in the run, {b!r} in the recording"


def compare(run, recorded):
    for fingerprint in sorted(run.keys() ^ recorded.keys()):
        side = "run" if fingerprint in run else "recording"
        yield f"{fingerprint} only in the {side}: {(run | recorded)[fingerprint]['identity']}"
    for fingerprint in sorted(run.keys() & recorded.keys()):
        a, b = run[fingerprint], recorded[fingerprint]
        if a["location"]["kind"] == "stack" and "name" not in a["location"]:
            b["location"], b["summary"] = a["location"], a["summary"]  # the owner was not waiting when the run found the race; a recording knows more
        yield from differences(a, b, fingerprint)


def in_source(race):
    """What a run and an analysis of the source both know."""
    sides = []
    for a in race["accesses"]:
        top = a["stack"][0] if a["stack"] else {}
        place = [top.get(key) for key in ("function", "file", "line", "column")]
        sides.append([a["kind"].replace("update", "write"), a["atomic"], *place])
    where = race["location"]
    name = [where.get("name"), where.get("file"), where.get("line")] if where["kind"] in ("global", "tls") else None
    return {"identity": race["identity"], "sides": sorted(sides, key=json.dumps), "kind": where["kind"], "variable": name}


def possible(run, static):
    """What is wrong with the static findings that a run's should be among."""
    with open(run, encoding="utf-8") as f:
        observed = json.load(f)["findings"]
    with open(static, encoding="utf-8") as f:
        proposed = {race["fingerprint"]: in_source(race) for race in json.load(f)["findings"]}
    for race in observed:
        if race["fingerprint"] not in proposed:
            yield f"not possible by the source: {race['identity']}"
        else:
            fingerprint = race["fingerprint"]
            yield from differences(in_source(race), proposed[fingerprint], f"static {fingerprint}")


def first_of_each(path):
    """One race may be on many elements, of which a run tells the first."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for race in json.load(f)["findings"]:
            found.setdefault(race["fingerprint"], told(race))
    return found


in_run, in_recording = first_of_each(sys.argv[1]), first_of_each(sys.argv[2])
wrong = list(compare(in_run, in_recording))
if len(sys.argv) > 3:
    wrong += possible(sys.argv[1], sys.argv[3])
print("\n".join(wrong) if wrong else len(in_run))
sys.exit(bool(wrong))
