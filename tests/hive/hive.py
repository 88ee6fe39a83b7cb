"""hive.py DEADHEAT sqlite|postgres DB MORE - the cases of tests/hive, on one kind of store.

MORE is, for SQLite, where a second database may be made; for PostgreSQL, a command that kills and restarts the server.
"""
import json
import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time

from client import Server, case, different, draw, finish, result, run, token
from openapi import check, fits
from slow import test_slow

DEADHEAT, KIND, DB, MORE = sys.argv[1:5]
TOKEN = token()


def named(name):
    return f"{KIND}/{name}"


def events(server):
    return server.ask("GET", "/v1/status", key=TOKEN)[1]["events"]


def add_builds():
    """The key and the ids of the two builds."""
    status, out, err = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "./prog")
    key = out.rsplit(": ", 1)[-1].strip()
    build = out.split("build ")[1].split()[0] if "build " in out else ""
    case(named("add"), err if status else different(key.startswith("dhk") and "added" in out, True))
    again = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "./prog")
    case(named("add again"), different("already" in again[1] and "key" not in again[1], True))
    return key, build


def poll(server, key, build, user, **more):
    return server.ask("POST", "/v1/poll", {"build": build, **more}, key, user)


def test_described(server, key, build):
    status, doc = server.ask("GET", "/v1/openapi.json")
    case(named("openapi is sound"), check(doc) or different(status, 200))
    wrong = []
    # Every route that is described exists, and refuses strangers unless it says otherwise.
    for path, item in doc["paths"].items():
        for method, op in item.items():
            real = path.replace("{program}", "prog").replace("{id}", "0" * 16)
            got, answer = server.ask(method.upper(), real, b"{}" if method == "post" else None)
            wanted = 200 if op.get("security") == [] else 401
            if got != wanted and not (got == 429 and wanted == 401):
                wrong.append(f"{method} {path}: {got}")
    case(named("strangers are refused"), wrong)
    user = draw()
    got = poll(server, key, build, user)
    answers = [("post", "/v1/poll", *got),
               ("post", "/v1/results", *server.ask("POST", "/v1/results", result(got[1]["task"]["task"], "no-race"), key, user))]
    for path in ("/v1/status", "/v1/builds", "/v1/candidates", "/v1/users"):
        answers.append(("get", path, *server.ask("GET", path, key=TOKEN)))
    unit = got[1]["task"]["unit"]
    answers.append(("get", "/v1/candidates/{program}/{id}", *server.ask("GET", f"/v1/candidates/prog/{unit}", key=TOKEN)))
    answers.append(("get", "/v1/candidates", *server.ask("GET", "/v1/candidates?limit=x", key=TOKEN)))
    answers.append(("get", "/v1/changes", *server.ask("GET", "/v1/changes", key=TOKEN)))
    answers.append(("get", "/v1/changes", *server.ask("GET", "/v1/changes?since=-1", key=TOKEN)))
    answers.append(("post", "/v1/source", *server.ask("POST", f"/v1/source?build={build}", {"source": []}, TOKEN)))
    answers.append(("post", "/v1/symbols", *server.ask("POST", f"/v1/symbols?build={build}", SYMBOLS, TOKEN)))
    answers.append(("post", "/v1/keys", *server.ask("POST", "/v1/keys", {"program": "prog"}, TOKEN)))
    answers.append(("post", "/v1/keys/revoke", *server.ask("POST", "/v1/keys/revoke", {"program": "prog", "number": 2}, TOKEN)))
    test_refusals_described(doc)
    case(named("answers are as described"), [w for w in (fits(doc, *a) for a in answers) if w])
    seen = answers[6][3]
    case(named("likely false, and how sure"),
         different((seen["verdict"], seen["reason"], seen["confidence"]["executions"], round(seen["confidence"]["at_most"], 4),
                    len(seen["timeline"])), ("likely-false-positive", "synchronisation", 1, 0.95, 1)))
    metrics = server.ask("GET", "/metrics")[1]
    case(named("metrics"), different("deadheat_hive_results_total 1" in metrics and "# TYPE deadheat_hive_users gauge" in metrics, True))


def test_refusals_described(doc):
    """Whatever the hive says to strangers, to long requests, to parameters that mean nothing, and without an administrator."""
    wrong = []

    def ask(server, body, key):
        for path, item in doc["paths"].items():
            for method in item:
                real = path.replace("{program}", "prog").replace("{id}", "0" * 16)
                wrong.append(fits(doc, method, path, *server.ask(method.upper(), real, body if method == "get" else body or b"{}", key)))

    s = Server(DEADHEAT, DB)
    long = s.connect()
    for path, item in doc["paths"].items():
        for method in item:
            long.putrequest(method.upper(), path.replace("{program}", "prog").replace("{id}", "0" * 16))
            long.putheader("Authorization", "Bearer " + TOKEN)
            long.putheader("Content-Length", str(10**12))
            long.endheaders()
            answer = long.getresponse()
            wrong.append(fits(doc, method, path, answer.status, json.load(answer)))
            long.close()
    ask(s, b"x", TOKEN)
    unit = s.ask("GET", "/v1/candidates?program=prog", key=TOKEN)[1]["candidates"][0]["id"]
    for path, item in doc["paths"].items():
        real = path.replace("{program}", "prog").replace("{id}", unit)
        if "get" in item:
            wrong.append(fits(doc, "get", path, *s.ask("GET", real + "?limit=x&since=x&verdict=x", key=TOKEN)))
    for _ in range(3):  # then strangers have asked too often
        ask(s, None, "guess")
    s.stop()
    s = Server(DEADHEAT, DB, token=None)
    ask(s, None, TOKEN)
    s.stop()
    case(named("refusals are as described"), [w for w in wrong if w])


SYMBOLS = {"functions": [[64, 32, "counter"]], "files": ["/src/prog.c"], "lines": [[64, 0, 7]]}


def test_refused(server, key, build):
    """Everything that must not be: the right status, and nothing is stored."""
    user = draw()
    task = poll(server, key, build, user)[1]["task"]["task"]
    good = result(task, "not-seen")
    before = events(server)
    bad = [
        ("no key", 401, ("POST", "/v1/results", good, None, user)),
        ("forged key", 401, ("POST", "/v1/results", good, "dhk" + "0" * 40, user)),
        ("ingest key as admin", 401, ("GET", "/v1/status", None, key, user)),
        ("admin as agent", 401, ("POST", "/v1/results", good, TOKEN, user)),
        ("no user", 400, ("POST", "/v1/results", good, key, None)),
        ("user is no number", 400, ("POST", "/v1/results", good, key, "x" * 32)),
        ("task of somebody else", 403, ("POST", "/v1/results", good, key, draw())),
        ("no such task", 403, ("POST", "/v1/results", {**good, "task": 10**9}, key, user)),
        ("negative task", 403, ("POST", "/v1/results", {**good, "task": -1}, key, user)),
        ("no JSON", 400, ("POST", "/v1/results", b"{", key, user)),
        ("no object", 400, ("POST", "/v1/results", b"[]", key, user)),
        ("no body", 400, ("POST", "/v1/results", None, key, user)),
        ("twice a member", 400, ("POST", "/v1/results", json.dumps(good)[:-1] + ', "result": "race"}', key, user)),
        ("not UTF-8", 400, ("POST", "/v1/results", b'{"id": "\xff"}', key, user)),
        ("no id", 400, ("POST", "/v1/results", {**good, "id": "x"}, key, user)),
        ("no such result", 400, ("POST", "/v1/results", {**good, "result": "maybe"}, key, user)),
        ("inference of a pair", 400, ("POST", "/v1/results", {**good, "result": "inference", "pairs": []}, key, user)),
        ("pairs of a pair", 400, ("POST", "/v1/results", {**good, "pairs": []}, key, user)),
        ("no run", 400, ("POST", "/v1/results", {**good, "run": None}, key, user)),
        ("negative time", 400, ("POST", "/v1/results", {**good, "waited_us": -5}, key, user)),
        ("saw what", 400, ("POST", "/v1/results", {**good, "saw": "nothing"}, key, user)),
        ("stacks without a race", 400, ("POST", "/v1/results", {**good, "stacks": [[64], [96]]}, key, user)),
        ("one stack", 400, ("POST", "/v1/results", {**good, "result": "race", "stacks": [[64]]}, key, user)),
        ("stacks of names", 400, ("POST", "/v1/results", {**good, "result": "race", "stacks": [["main"], []]}, key, user)),
        ("deep stacks", 400, ("POST", "/v1/results", {**good, "result": "race", "stacks": [[64] * 65, []]}, key, user)),
        ("symbols of nothing", 404, ("POST", "/v1/symbols?build=01234567", {"functions": []}, TOKEN, None)),
        ("no symbols", 422, ("POST", f"/v1/symbols?build={build}", {"functions": [["main"]]}, TOKEN, None)),
        ("symbols by an agent", 401, ("POST", f"/v1/symbols?build={build}", {"functions": []}, key, user)),
        ("no such style", 400, ("POST", "/v1/builds?program=x&build=01234567&style=all", b"x", TOKEN, None)),
        ("absurd time", 400, ("POST", "/v1/results", {**good, "waited_us": 10**18}, key, user)),
        ("as long as the longest result", 400, ("POST", "/v1/results", b" " * 250000, key, user)),
        ("too long", 413, ("POST", "/v1/results", b" " * 270000, key, user)),
        ("body of a GET", 413, ("GET", "/healthz", b"x", None, None)),
        ("unknown build", 404, ("POST", "/v1/poll", {"build": "0123456789"}, key, user)),
        ("no build id", 400, ("POST", "/v1/poll", {"build": "../../x"}, key, user)),
        ("no table", 422, ("POST", "/v1/builds?program=x&build=01234567", b"rubbish", TOKEN, None)),
        ("bad name", 400, ("POST", "/v1/builds?program=a%20b&build=01234567", b"x", TOKEN, None)),
        ("no path", 404, ("GET", "/v1/nothing", None, TOKEN, None)),
        ("no method", 405, ("POST", "/v1/status", b"{}", TOKEN, None)),
        ("nothing to forget", 404, ("POST", "/v1/forget", {"user": 10**6}, TOKEN, None)),
    ]
    wrong = []
    for name, status, request in bad:
        got = server.ask(*request)
        if got[0] != status or "error" not in got[1]:
            wrong.append(f"{name}: {got}")
    case(named("refused with the right status"), wrong)
    case(named("what is refused is not stored"), different(events(server), before))
    good["saw"] = "one-thread"
    first = server.ask("POST", "/v1/results", good, key, user)
    stored = events(server)
    again = server.ask("POST", "/v1/results", good, key, user)
    other = server.ask("POST", "/v1/results", {**good, "waited_us": 6}, key, user)
    more = server.ask("POST", "/v1/results", {**good, "id": draw()}, key, user)
    case(named("once each"), different((first[0], again[0], again[1]["new"], other[0], more[0], events(server)),
                                       (201, 200, False, 409, 409, stored)))


def test_withdrawn(server, key, build):
    """A race that somebody confirms is taken from everybody who waits."""
    users = [draw() for _ in range(24)]
    tasks = {u: poll(server, key, build, u)[1] for u in users}
    first = users[0]
    same = [u for u in users[1:] if tasks[u]["task"]["unit"] == tasks[first]["task"]["unit"]]
    news = {}

    def wait(user):
        news[user] = poll(server, key, build, user, since=tasks[user]["version"], wait_s=50)

    threads = [threading.Thread(target=wait, args=(u,)) for u in same[:3]]
    for t in threads:
        t.start()
    while server.ask("GET", "/metrics")[1].find(f"deadheat_hive_waiting_polls {len(threads)}\n") < 0:
        time.sleep(0.05)
    server.ask("POST", "/v1/results", result(tasks[first]["task"]["task"], "race", consequence="crash", stacks=[[70, 0, 9000], [96]]), key, first)
    for t in threads:
        t.join()
    bad = [a for a in news.values() if a[0] != 200 or (a[1]["task"] or {}).get("unit") == tasks[first]["task"]["unit"]]
    case(named("withdrawn at once"), bad or different(len(news) > 0, True))
    answer = server.ask("GET", f"/v1/candidates/prog/{tasks[first]['task']['unit']}", key=TOKEN)
    c = answer[1]
    named_frame = {"function": "counter", "file": "/src/prog.c", "line": 7}
    case(named("both stacks"), fits(server.ask("GET", "/v1/openapi.json")[1], "get", "/v1/candidates/{program}/{id}", *answer) or different(
        c["stacks"][0]["accesses"], [[{"offset": 70, **named_frame}, {"offset": 0}, {"offset": 9000}], [{"offset": 96, **named_frame}]]))
    page = server.ask("GET", f"/races/prog/{c['id']}", key=TOKEN)[1]
    case(named("stacks on the page"), different((page.count("Stacks as seen"), page.count("/src/prog.c:7"), page.count("offset 9000"), "other modules" in page), (1, 2, 1, True)))
    orders = "both" if c["sites"][0]["site"] == c["sites"][1]["site"] else "single"  # an access with itself has one order only
    case(named("true race"), different((c["verdict"], c["orders"], c["causes_crash"], c["active_tasks"]), ("true-race", orders, True, 0)))
    case(named("nothing to compare a crash with"), different((c["other_races"], "No other race of this program" in page),
                                                             ({"races": 0, "crashes": 0, "hangs": 0, "crash_chance": 1.0, "hang_chance": 1.0}, True)))
    return tasks[first]["task"]["unit"]


def test_kill(server, key, build):
    """kill -9 in mid-load, of the hive and then, if there is one, of the database server: what was acknowledged is there."""
    acknowledged, lock = [], threading.Lock()

    def load():
        user = draw()
        c = server.connect()
        try:
            while True:
                status, answer = server.ask("POST", "/v1/poll", {"build": build}, key, user, c)
                if status != 200 or not answer["task"]:
                    user = draw()  # this one has done all there is, or is relieved
                    continue
                r = result(answer["task"]["task"], "not-seen")
                status, _ = server.ask("POST", "/v1/results", r, key, user, c)
                if status == 201:
                    with lock:
                        acknowledged.append((user, r))
        except OSError:
            pass  # killed
        except Exception as e:  # pylint: disable=broad-except
            if "Remote end closed" not in str(e) and "IncompleteRead" not in str(e) and "BadStatusLine" not in repr(e):
                acknowledged.append(("", {"error": repr(e)}))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for t in threads:
        t.start()
    while len(acknowledged) < 100:
        time.sleep(0.02)
    server.kill()
    for t in threads:
        t.join()
    if KIND == "postgres":
        subprocess.run(MORE.split(), check=True, stdout=subprocess.DEVNULL, timeout=60)
    server = Server(DEADHEAT, DB, "--rate=100000")
    answers = [server.ask("POST", "/v1/results", r, key, u)[0] for u, r in acknowledged]
    case(named("acknowledged is durable"), different([a for a in answers if a != 200], []))
    return server


def test_commands(server, key, build, unit):
    status, out, err = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "./prog-DLATER")
    case(named("add a later build"), err if status else different("known from other builds" in out, True))
    again = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "./prog")[1]
    case(named("what a build knows itself is not of others"), different(("is there already" in again, "known from other" in again), (True, False)))
    other = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "--style=sound", "./prog")
    case(named("one style for a build"), different((other[0], "other style" in other[2]), (2, True)))
    later = out.split("build ")[1].split()[0]
    rows = server.ask("GET", f"/v1/candidates?build={later}", key=TOKEN)
    while rows[0] == 404:  # the server follows the log
        rows = server.ask("GET", f"/v1/candidates?build={later}", key=TOKEN)
    rows = rows[1]["candidates"]
    places = {r["sites"][0]["function"]: r for r in rows}
    case(named("verdicts carry over where nothing changed"),
         different((places["count"]["carried_over"], places["miss"]["carried_over"], places["miss"]["verdict"]), (True, False, "unknown")))
    for form in ("json", "sarif", "csv"):
        status, out, err = run(DEADHEAT, "export", f"--db={DB}", f"--format={form}", f"--build={build}")
        case(named(f"export {form}"), err if status else different(unit in out or "confirmed-race" in out, True))
        if form != "csv":
            json.loads(out)
    status, out, err = run(DEADHEAT, "status", f"--db={DB}")
    case(named("status"), err if status else different("prog" in out and "single order" in out, True))
    run(DEADHEAT, "forget", f"--db={DB}", "--program=prog", f"--candidate={unit}")
    status, out, err = run(DEADHEAT, "export", f"--db={DB}", "--format=json", f"--build={build}")
    verdicts = {c["id"]: c["verdict"] for c in json.loads(out)["candidates"]}
    case(named("forget"), different(verdicts[unit], "unknown"))
    status, _, err = run(DEADHEAT, "backup", f"--db={DB}", "-o", "copy.db")
    if KIND == "postgres":
        case(named("backup"), different((status, "pg_dump" in err), (2, True)))
        return
    same = run(DEADHEAT, "export", "--db=copy.db", "--format=json", f"--build={build}")[1]
    case(named("backup"), err if status else different(same, out))
    status, _, err = run(DEADHEAT, "backup", f"--db={DB}", "-o", "copy.db")
    case(named("backup replaces nothing"), different(status, 2))


def test_source(server, unit):
    """Lines of source are shown if they were uploaded, and not otherwise."""
    def site():
        return server.ask("GET", f"/v1/candidates/prog/{unit}", key=TOKEN)[1]["sites"][0]

    before = site().get("source")
    status, out, err = run(DEADHEAT, "add", f"--db={DB}", "--program=prog", "--source", "./prog")
    while not status and not site().get("source"):  # the server follows the log
        time.sleep(0.05)
    text = {x["line"]: x["text"] for x in site().get("source", [])}.get(site()["line"], "")
    case(named("source on request"), err if status else different((before, "of source from 1 file" in out, " += n;" in text), ([], True, True)))


def test_passwords():
    """A password in the address of a database is in no message, which may end up in a log."""
    address = "postgres://hive:first@127.0.0.1:1/x?password=second&sslpassword=third"
    said = [run(DEADHEAT, command, f"--db={address}", *more)[2] for command, *more in (["status"], ["serve", "--listen=127.0.0.1:0"], ["backup", "-o", "x"])]
    told = [word for text in said for word in ("first", "second", "third") if word in text]
    case(named("passwords are not shown"), different((told, ["127.0.0.1:1/x" in text for text in said]), ([], [True] * 3)))


def test_store_fails(server, key, build):
    """What is not committed is not acknowledged; when the store is there again, so is the hive."""
    user = draw()
    task = poll(server, key, build, user)[1]["task"]["task"]
    r = result(task, "not-seen")
    if KIND == "postgres":
        subprocess.run(MORE.split(), check=True, stdout=subprocess.DEVNULL, timeout=60)
    else:
        pid, limits = server.process.pid, resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, limits[1]))
        got = (server.ask("POST", "/v1/results", r, key, user)[0], server.ask("GET", "/healthz")[0], server.ask("GET", "/readyz")[0])
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        case(named("not stored is not acknowledged"), different(got, (503, 200, 503)))
    got = server.ask("POST", "/v1/results", r, key, user)[0]
    while got == 503:  # until the connection is there again, or the state has been read again
        got = server.ask("POST", "/v1/results", r, key, user)[0]
    case(named("the store comes back"), different((got, server.ask("GET", "/readyz")[0]), (201, 200)))


def test_store_hangs(server):
    """A database server that says nothing at all, not even that it cannot: the hive is alive, and not ready until it goes on."""
    if KIND != "postgres":
        return
    subprocess.run(MORE.replace("restart", "pause").split(), check=True, timeout=60)
    try:
        for _ in range(600):  # a minute
            ready = server.ask("GET", "/readyz")[0]
            if ready != 200:
                break
            time.sleep(0.1)
        alive = server.ask("GET", "/healthz")[0]
    finally:
        subprocess.run(MORE.replace("restart", "resume").split(), check=True, timeout=60)
    while server.ask("GET", "/readyz")[0] == 503:
        time.sleep(0.1)
    case(named("a store that hangs"), different((ready, alive), (503, 200)))


def known(server):
    """All that a hive shows."""
    return [server.ask("GET", path, key=TOKEN)[1] for path in ("/v1/status", "/v1/builds", "/v1/candidates", "/v1/users")]


def test_snapshot(key, build):
    """A start from a snapshot is a start from the log; and so is one from a snapshot that is damaged."""
    first = Server(DEADHEAT, DB, "--snapshot=1000000000")
    wanted = known(first)
    first.stop()
    Server(DEADHEAT, DB, "--snapshot=1").stop()
    second = Server(DEADHEAT, DB, "--snapshot=1000000000")
    used = f"deadheat_hive_snapshot_event {wanted[0]['events']}\n" in second.ask("GET", "/metrics")[1]
    case(named("a start from a snapshot"), different((used, known(second)), (True, wanted)))
    user = draw()
    task = poll(second, key, build, user)[1]["task"]["task"]
    second.ask("POST", "/v1/results", result(task, "no-race"), key, user)
    wanted = known(second)
    second.stop()
    third = Server(DEADHEAT, DB, "--snapshot=1000000000")
    case(named("and of what follows it"), different(known(third), wanted))
    third.stop()
    if KIND == "sqlite":
        with sqlite3.connect(DB) as db:
            db.execute("UPDATE snapshots SET data = zeroblob(1000) WHERE part = 0")
        db.close()
        fourth = Server(DEADHEAT, DB, "--snapshot=1000000000")
        unused = "deadheat_hive_snapshot_event 0\n" in fourth.ask("GET", "/metrics")[1]
        case(named("a damaged snapshot is none"), different((unused, known(fourth)), (True, wanted)))
        fourth.stop()


def each_race_once(servers):
    """As many users as races, at once, by both hives: none is asked of two users while another one of nobody."""
    out = run(DEADHEAT, "add", f"--db={DB}", "--program=many", "./many")[1]
    key, build = out.rsplit(": ", 1)[-1].strip(), out.split("build ")[1].split()[0]
    races = int(out.split(": ")[2].split()[0])
    for s in servers:  # they follow the log
        while s.ask("GET", f"/v1/candidates?build={build}", key=TOKEN)[0] == 404:
            pass
    together, units = threading.Barrier(races), []

    def ask(server):
        user = draw()
        together.wait()
        units.append(poll(server, key, build, user)[1]["task"]["unit"])

    threads = [threading.Thread(target=ask, args=(servers[i % 2],)) for i in range(races)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return len(set(units)), 32


def test_two_hives(key, build):
    """Two processes over one store: no task is given twice, and each sees what the other did."""
    a, b = Server(DEADHEAT, DB), Server(DEADHEAT, DB)
    numbers, lock = [], threading.Lock()

    def ask(server):
        for _ in range(20):
            got = poll(server, key, build, draw())[1]["task"]
            with lock:
                numbers.append(got["task"])

    threads = [threading.Thread(target=ask, args=(s,)) for s in (a, b, a, b)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    case(named("two hives give no task twice"), different(len(set(numbers)), 80))
    case(named("two hives give each race once"), different(*each_race_once([a, b])))
    user = draw()
    task = poll(a, key, build, user)[1]["task"]["task"]
    r = result(task, "not-seen")
    got = (b.ask("POST", "/v1/results", r, key, user)[0], a.ask("POST", "/v1/results", r, key, user)[0])
    case(named("a result goes to either hive"), different(got, (201, 200)))
    case(named("a stop is clean"), different((a.stop(), b.stop()), (0, 0)))


def test_remote(server):
    """Builds and keys by the interface, for who cannot open the database."""
    where = (f"--hive=https://127.0.0.1:{server.port}", "--cert=cert.pem")
    status, out, err = run(DEADHEAT, "add", *where, "--admin-token-file=token", "./many")
    build, key = (out.split("build ")[1].split()[0], out.rsplit(": ", 1)[-1].strip()) if not status else ("", "")
    case(named("add by the interface"), err if status else different((" 32 candidates" in out, poll(server, key, build, draw())[0]), (True, 200)))
    again = run(DEADHEAT, "add", *where, "--admin-token-file=token", "./many")
    more = run(DEADHEAT, "key", *where, "--admin-token-file=token", "--program=many")
    less = run(DEADHEAT, "key", *where, "--admin-token-file=token", "--program=many", "--revoke=1")
    case(named("keys by the interface"), different(("already" in again[1] and "key" not in again[1], "key 2" in more[1], less[0], poll(server, key, build, draw())[0]),
                                                   (True, True, 0, 401)))
    refused = [run(DEADHEAT, "add", *args, "./many") for args in (
        (*where, "--admin-token-file=cert.pem"), where, (where[0], "--admin-token-file=token"), ("--hive=http://192.0.2.1:1", "--admin-token-file=token"),
        (*where, "--admin-token-file=token", "--program=other"))]
    said = [text in r[2] for r, text in zip(refused, ("not the administrator", "--admin-token-file", "certificate", "unencrypted", "another program"))]
    case(named("no add without the right to"), different(([r[0] for r in refused], said), ([2] * 5, [True] * 5)))


def test_listening():
    status, _, err = run(DEADHEAT, "serve", f"--db={MORE}", "--listen=0.0.0.0:0")
    case(named("not beyond loopback without TLS"), different((status, "--insecure" in err, os.path.exists(MORE)), (2, True, False)))
    with open("short", "w", encoding="ascii") as f:
        f.write("admin\n")
    status, _, err = run(DEADHEAT, "serve", f"--db={MORE}", "--listen=127.0.0.1:0", "--admin-token-file=short")
    case(named("no short token"), different((status, "too short" in err), (2, True)))
    said = [run(DEADHEAT, "serve", f"--db={MORE}", f"--listen={at}")[2] for at in ("localhost:0", ":7070", "[::1:0")]
    case(named("no name for an address"), [x for x in said if "must be an address and a port" not in x])
    subprocess.run(["openssl", "genrsa", "-out", "other.pem", "2048"], check=True, capture_output=True)
    for key in ("other.pem", "cert.pem"):
        status, _, err = run(DEADHEAT, "serve", f"--db={MORE}", "--listen=127.0.0.1:0", "--cert=cert.pem", f"--key={key}")
        case(named(f"{key} is not the key of the certificate"),
             different((status, "the certificate and its key cannot be used" in err, os.path.exists(MORE)), (2, True, False)))
    s = Server(DEADHEAT, MORE, "--cert=cert.pem", "--key=key.pem")
    case(named("TLS"), different(s.ask("GET", "/healthz"), (200, "ok\n")))
    test_remote(s)
    s.stop()
    p = subprocess.Popen(["prlimit", "--nofile=200:200", DEADHEAT, "hive", "serve", f"--db={MORE}", "--listen=127.0.0.1:0"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = p.stdout.readline()
    p.terminate()
    err = p.communicate()[1]
    case(named("few files, few connections"), different(("serving" in line, "at most 136 connections" in err, p.returncode), (True, True, 0)))
    with open("rubbish", "w", encoding="ascii") as f:
        f.write("this is no database, and long enough to be read as one" * 20)
    status, _, err = run(DEADHEAT, "status", "--db=rubbish")
    case(named("no database"), different((status, "not a database" in err), (2, True)))
    status, _, err = run(DEADHEAT, "add", f"--db={MORE}", "./run.log" if os.path.exists("run.log") else "cc.log")
    case(named("no field build"), different((status, "--dh-mode=field" in err), (2, True)))


def test_rate(key, build):
    s = Server(DEADHEAT, DB, "--rate=1")
    user = draw()
    got = [poll(s, key, build, user)[0] for _ in range(40)]
    other = poll(s, key, build, draw())[0]
    case(named("rate"), different((got[0], 429 in got, other), (200, True, 200)))
    bad = [s.ask("GET", "/v1/status", key="guess")[0] for _ in range(60)]
    case(named("guessing is slowed down"), different((bad[0], 429 in bad), (401, True)))
    case(named("who knows the token is not"), different(s.ask("GET", "/v1/status", key=TOKEN)[0], 200))
    s.stop()


def main():
    key, build = add_builds()
    server = Server(DEADHEAT, DB, "--rate=100000")
    test_described(server, key, build)
    test_refused(server, key, build)
    unit = test_withdrawn(server, key, build)
    test_source(server, unit)
    server = test_kill(server, key, build)
    test_commands(server, key, build, unit)
    test_store_fails(server, key, build)
    test_store_hangs(server)
    case(named("stop"), different(server.stop(), 0))
    test_two_hives(key, build)
    test_snapshot(key, build)
    if KIND == "sqlite":
        test_listening()
        test_passwords()
        test_rate(key, build)
        test_slow(DEADHEAT, DB, named, key, TOKEN, build)
    finish()


main()
