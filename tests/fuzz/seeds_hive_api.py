"""seeds_hive_api.py DIRECTORY - writes the corpus of fuzz_hive_api: a request for each operation that the hive's description of its interface
has, with the least and with all of its members, and a few conversations."""
import itertools
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/hive"))
from openapi import resolve  # noqa: E402  (found only after the line above)

API = json.loads((ROOT / "src/hive/openapi.json").read_text(encoding="utf-8"))
BUILD = "0123456789abcdef"
KNOWN = {"program": "prog", "build": BUILD, "candidate": "$U0", "task": 0, "user": 0, "since": 0, "wait_s": 0, "limit": 10, "after": 0,
         "number": 1, "result": "no-race", "id": "2" * 32, "run": "3" * 32, "sites": ["$S3", "$T3"]}


def example(schema, name="", every=True):
    schema = resolve(API, schema)
    if name in KNOWN:
        return KNOWN[name]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        names = schema.get("properties", {}) if every else schema.get("required", [])
        return {n: example(schema["properties"][n], n, every) for n in names}
    if kind == "array":
        return [example(schema["items"], "", every)]
    return {"integer": 7, "number": 0.5, "boolean": True}.get(kind, "x")


def credentials(path, op):
    schemes = " ".join(n for need in op.get("security", API.get("security", [])) for n in need).lower()
    return [] if not schemes else ["K", "U"] if path in ("/v1/poll", "/v1/results") else ["A"]


def request(method, path, headers, body=""):
    return f"{method.upper()} {path}\n" + "".join(h + "\n" for h in headers) + "\n" + body


def requests():
    for (path, item), every in itertools.product(API["paths"].items(), (False, True)):
        for method, op in item.items():
            where, query = path.replace("{program}", "prog").replace("{id}", "$U0"), []
            for p in (resolve(API, q) for q in op.get("parameters", [])):
                if p["in"] == "query" and (every or p.get("required")):
                    query.append(f"{p['name']}={example(p['schema'], p['name'])}")
            content = op.get("requestBody", {}).get("content", {})
            body = json.dumps(example(content["application/json"]["schema"], "", every)) if "application/json" in content else ""
            name = f"{method}{path.replace('/', '-').replace('{', '').replace('}', '')}-{'all' if every else 'least'}"
            yield name, request(method, where + ("?" + "&".join(query) if query else ""), credentials(path, op), body)


def poll(**more):
    return request("post", "/v1/poll", ["K", "U"], json.dumps({"build": BUILD, **more}))


def result(n, task, what, **more):
    return request("post", "/v1/results", ["K", "U"],
                   json.dumps({"id": f"{n:032x}", "task": task, "result": what, "run": "4" * 32, "waited_us": 5, "run_us": 9, **more}))


def conversations():
    yield "race", [poll(), result(1, 0, "race", consequence="crash", order="alternate"), poll(), result(2, 1, "race")]
    yield "timeouts", [poll(), *(result(n, 0, "timeout") for n in range(7)), poll(since=1)]
    yield "again", [poll(), result(1, 0, "no-race"), result(1, 0, "no-race"), result(1, 0, "race")]
    yield "all-of-them", [poll(), *itertools.chain(*((result(n, n, "inference", pairs=[{"sites": ["$S3", "$T3"], "saw": "met"}]),
                                                      result(n, n, "not-seen", saw="one-thread"), poll()) for n in range(6)))]
    yield "waits", [poll(), poll(since=100, wait_s=60), result(1, 0, "no-race")]
    admin = ["A"]
    yield "forget", [poll(), result(1, 0, "race"), request("post", "/v1/forget", admin, '{"program": "prog", "candidate": "$U1"}'), poll(),
                     request("post", "/v1/forget", admin, '{"user": 0}'), poll(), request("post", "/v1/forget", admin, json.dumps({"build": BUILD})), poll()]
    yield "keys", [request("post", "/v1/keys", admin, '{"program": "prog"}'),
                   request("post", "/v1/keys/revoke", admin, '{"program": "prog", "number": 1}'), poll()]


def main():
    to = pathlib.Path(sys.argv[1])
    to.mkdir(parents=True, exist_ok=True)
    for name, text in requests():
        (to / name).write_text(text, encoding="ascii")
    for name, parts in conversations():
        (to / name).write_text("\x01".join(parts), encoding="ascii")


main()
