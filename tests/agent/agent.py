"""agent.py DEADHEAT TOOLS - the cases of tests/agent. In the current directory are prog, forged, ordered and apart, built from prog.c; in TOOLS, forge
and bundle."""
import atexit
import http.server
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time

import client
from client import Server, case, different, draw, result, run, token

DEADHEAT, TOOLS = sys.argv[1:3]
PLAIN = os.path.join(os.path.dirname(__file__), "plain.c")
client.SUITE = "agent"
TOKEN = token()
LONG = 120  # seconds, after which something will never happen
STARTED = []


@atexit.register
def end_all():
    """Nothing of a test that has failed is left behind."""
    for process in STARTED:
        if process.poll() is None:
            process.kill()


def until(what, seconds=LONG):
    """Its first value that is true, or the last."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.02)


def code_segments(path):
    """Offset, address and size of what is executable in the file."""
    with open(path, "rb") as f:
        data = f.read()
    at, size, n = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, flags, offset, address, _, filesz = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == 1 and flags & 1:
            yield data[offset:offset + filesz], address


def armed(pid, path="prog"):
    """How many bytes of the running program's code are not as in its file."""
    try:
        with open(f"/proc/{pid}/maps", encoding="ascii") as f:
            base = int(next(line for line in f if line.rstrip().endswith("/" + path)).split("-")[0], 16)
        with open(f"/proc/{pid}/mem", "rb") as f:
            n = 0
            for code, address in code_segments(path):
                f.seek(base + address)
                n += sum(a != b for a, b in zip(f.read(len(code)), code))
            return n
    except (OSError, StopIteration):
        return -1


class Program:
    """The program of the test, started as anybody would."""

    def __init__(self, *before, name="./prog", **env):
        self.process = subprocess.Popen([*before, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
        self.pid = self.process.pid
        STARTED.append(self.process)

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self, word="end"):
        """Exit status, standard output and error."""
        out, err = self.process.communicate(word + "\n", timeout=LONG)
        return self.process.returncode, out, err


OVER = (7, "over\n", "")
WENT = (7, "go\nover\n", "")


class Agent:
    """`deadheat agent`, in a run-time directory of its own."""

    def __init__(self, hive, state, *args, key="key"):
        os.makedirs("run", mode=0o700, exist_ok=True)
        self.log = open("agent.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([DEADHEAT, "agent", f"--hive={hive}", f"--key-file={key}", f"--state={state}",
                                         "--rmax=100%", "--head-start=30s", *args, "./prog"], stderr=self.log,
                                        env={**os.environ, **HERE})
        STARTED.append(self.process)
        until(lambda: "ready" in self.said() or self.process.poll() is not None)

    def said(self):
        with open("agent.log", encoding="utf-8") as f:
            return f.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=LONG)

    def kill(self):
        self.process.kill()
        self.process.wait()


HERE = {"XDG_RUNTIME_DIR": os.getcwd() + "/run"}


def serve(db, *args, **more):
    server = Server(DEADHEAT, db, *args, **more)
    STARTED.append(server.process)
    return server


def add_build(db):
    out = run(DEADHEAT, "add", f"--db={db}", "--program=prog", "./prog")[1]
    with open("key", "w", encoding="ascii") as f:
        f.write(out.rsplit(": ", 1)[-1])
    return out.split("build ")[1].split()[0]


def url(server):
    return f"{'https' if server.tls else 'http'}://127.0.0.1:{server.port}"


def counts(server):
    return server.ask("GET", "/v1/status", key=TOKEN)[1]["programs"][0]


def verdicts(server):
    return [c.get("verdict") for c in server.ask("GET", "/v1/candidates", key=TOKEN)[1]["candidates"]]


def races(server):
    return verdicts(server).count("true-race")


def files(state):
    return [os.path.join(where, f) for where, _, names in os.walk(state) for f in names]


def spooled(state):
    return [f for f in files(state) if re.fullmatch("[0-9a-f]{32}.json", os.path.basename(f))]


def withdraw_all(server, build):
    """Other users confirm everything, and crash, so that the other order is not tried any more, either."""
    key = open("key", encoding="ascii").read().strip()
    while True:
        user = draw()
        task = server.ask("POST", "/v1/poll", {"build": build}, key, user)[1]["task"]
        if not task:
            return
        server.ask("POST", "/v1/results", result(task["task"], "race", consequence="crash"), key, user)


def test_confirmed(server):
    agent = Agent(url(server), "state")
    program = Program(**HERE)
    program.tell("go")
    found = until(lambda: races(server))
    case("a race is confirmed through the hive", different(found > 0, True) + ("" if found else agent.said()))
    case("the program does not notice", different(program.end(), WENT))
    case("the agent stops", different(agent.stop(), 0))
    case("its socket goes with it", different(os.listdir("run/deadheat"), []))


def is_met(pid):
    """Have two threads met, and been looked at? Then the program notes what it dies of, and nothing is armed."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search("SigCgt:\\s*(\\w+)", f.read())[1], 16) >> (signal.SIGABRT - 1) & 1 and armed(pid) == 0


def test_crash(server):
    """A program that dies before its agent has looked at the meeting takes it along, so there are further chances."""
    agent = Agent(url(server), "state", "--hang=60s")
    for _ in range(4):
        program = Program(**HERE)
        program.tell("go")
        met = until(lambda: is_met(program.pid))
        status = program.end("crash")[0]
        if until(lambda: counts(server)["causes_crash"], 10):
            break
    case("two threads meet", different(met, True))
    case("it dies as it would", different(status, -signal.SIGABRT))
    case("the hive learns of the crash", different(counts(server)["causes_crash"], 1))
    agent.stop()


def test_hang(server):
    """The threads must stand still before the agent takes them to go on, so there is a second chance, with the other pair."""
    agent = Agent(url(server), "state", "--hang=2s")
    for _ in range(2):
        before = counts(server)
        if before["causes_hang"]:
            break
        program = Program(**HERE)
        program.tell("go")
        until(lambda: is_met(program.pid))
        program.tell("hang")
        until(lambda: counts(server)["results"] > before["results"])
        program.process.kill()
        program.process.communicate()
    case("the hive learns of a hang", different(until(lambda: counts(server)["causes_hang"] > 0), True))
    agent.stop()


def test_withdrawn(server, build):
    agent = Agent(url(server), "state")
    program = Program(**HERE)
    case("an access that is not reached stays armed", different(until(lambda: armed(program.pid) > 0), True))
    withdraw_all(server, build)
    case("what is withdrawn is withdrawn at once", different(until(lambda: armed(program.pid) == 0), True))
    case("and the program goes on", different(program.end("whose\nend"), (7, "own\nover\n", "")))
    # The next begins without a task: then its calls of libc are not led elsewhere, which would cost something each time.
    case("with nothing to try, calls are libc's", different(Program(**HERE).end("whose\nend"), (7, "libc\nover\n", "")))
    agent.stop()


def test_killed_agent(server):
    agent = Agent(url(server), "state")
    program = Program(**HERE)
    until(lambda: armed(program.pid) > 0)
    agent.kill()
    case("nothing is left when the agent is killed", different(until(lambda: armed(program.pid) == 0), True))
    program.tell("go")
    case("and the program does not notice", different(program.end(), WENT))


def test_stopped_agent(server):
    """Who is stopped can clear nothing, so the program does."""
    agent = Agent(url(server), "state")
    program = Program(**HERE)
    until(lambda: armed(program.pid) > 0)
    with open(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children", encoding="ascii") as f:
        workers = [int(pid) for pid in f.read().split()]
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    program.tell("go")
    case("a program clears what a stopped agent has left", different((len(workers), until(lambda: armed(program.pid) == 0)), (1, True)))
    for pid in workers:
        os.kill(pid, signal.SIGCONT)
    case("and is not chased any more", different((until(lambda: armed(program.pid) == 0), program.end()), (True, WENT)))
    agent.stop()


def test_dead_hive(db):
    server = serve(db)
    agent = Agent(url(server), "later", "--hang=1s")
    program = Program(**HERE)
    until(lambda: armed(program.pid) > 0)
    before = counts(server)["results"]
    server.kill()
    program.tell("go")
    case("a result waits for a hive that is dead", different(bool(until(lambda: spooled("later"))), True))
    case("the program ends as always", different(program.end(), WENT))
    shown = subprocess.run([DEADHEAT, "agent", "show", f"--hive={url(server)}", "--key-file=key", "--state=later", "./prog"],
                           capture_output=True, text=True, timeout=LONG)
    test_show(shown.stdout)
    agent.stop()
    number = len(spooled("later"))
    open("empty", "w", encoding="ascii").close()
    unread = subprocess.run([DEADHEAT, "agent", "send", f"--hive={url(server)}", "--key-file=empty", "--state=later", "--limit=1s"],
                            capture_output=True, text=True, timeout=LONG)
    case("a key that is empty is called so", "it is empty" not in unread.stderr and unread.stderr)
    server = serve(db, port=server.port)
    send = [DEADHEAT, "agent", "send", f"--hive={url(server)}", "--key-file=key", "--state=later", "--limit=60s"]
    copy = {name: open(name, encoding="utf-8").read() for name in spooled("later")}
    proxy = {name: "http://127.0.0.1:1" for name in ("http_proxy", "all_proxy")}
    sent = subprocess.run(send, capture_output=True, text=True, timeout=LONG, env={**os.environ, **proxy})
    case("it is sent later, and to this machine without a proxy", sent.stderr if sent.returncode else different(spooled("later"), []))
    for name, text in copy.items():  # as if the agent had been killed before it could remove it
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
    subprocess.run(send, capture_output=True, text=True, timeout=LONG)
    case("and counts once", different((counts(server)["results"] - before, spooled("later")), (number, [])))
    server.stop()


def test_words():
    """What is wrong with a flag names the flag."""
    p = subprocess.run([DEADHEAT, "run", "--hive=http://127.0.0.1:1", "--key-file=key", "--head-start=2m", "--", "./prog"],
                       capture_output=True, text=True, timeout=LONG)
    case("a time that is too long", different(p.stderr, "deadheat run: error: --head-start cannot be '2m'; it must be a time up to a minute, such as 100ms\n"))


def test_silent_hive():
    """A program waits for a hive that says nothing as long as --head-start, and once."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        took = []
        for _ in range(5):
            began = time.monotonic()
            program = Program(DEADHEAT, "run", f"--hive=http://127.0.0.1:{silent.getsockname()[1]}", "--key-file=key", "--state=silent",
                              "--head-start=900ms", **HERE)
            ended = program.end()
            took.append(time.monotonic() - began)
    case("a silent hive delays a program once", different((ended, min(took) < 1.6), (OVER, True)) and f"{ended}, {took} s")


ALLOWED = {"id": "[0-9a-f]{32}", "run": "[0-9a-f]{32}", "task": "[0-9]+", "result": "[a-z-]+", "order": "primary|alternate",
           "consequence": "none|crash|hang", "waited_us": "[0-9]+", "run_us": "[0-9]+", "saw": "[a-z-]+",
           "build": "[0-9a-f]{8,128}", "since": "[0-9]+", "wait_s": "[0-9]+",
           "stacks": r"\[\[(\d{1,9}(, )?)*\], \[(\d{1,9}(, )?)*\]\]"}  # offsets in a small file: an address has more digits


def test_show(text):
    """Nothing but the fields that are allowed, and nothing that could hold anything else."""
    wrong, bodies = [], 0
    for line in text.splitlines():
        if line.startswith("{"):
            bodies += 1
            wrong += [f"{k}: {v}" for k, v in json.loads(line).items() if not re.fullmatch(ALLOWED.get(k, "$"), str(v))]
        elif not re.fullmatch(r"|POST http://127\.0\.0\.1:\d+/v1/(poll|results)|Authorization: Bearer \(the key in \S+\)|"
                              r"X-Deadheat-User: [0-9a-f]{32}|Content-Type: application/json", line):
            wrong.append(line)
    case("show has nothing but what may be sent", wrong or different(bodies >= 2, True))


class Liar(http.server.BaseHTTPRequestHandler):
    """A hive that asks for what it must not. `task` is what it answers; with `news`, as another version each time."""
    task = None
    news = False
    asked = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Liar.asked.append(time.monotonic())
        version = len(Liar.asked) if Liar.news else 1
        body = json.dumps({"version": version, "task": Liar.task, "relieved": False}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except BrokenPipeError:
            pass  # the agent was stopped meanwhile

    def log_message(self, *args):
        pass


def test_restless():
    """A hive that has something new whenever it is asked is not asked without a pause."""
    restless = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=restless.serve_forever, daemon=True).start()
    Liar.task, Liar.news, Liar.asked = None, True, []
    agent = Agent(f"http://127.0.0.1:{restless.server_port}", "restless")
    case("asked again", different(bool(until(lambda: len(Liar.asked) > 10)), True))
    case("not at once", different(Liar.asked[10] - Liar.asked[0] > 0.8, True))
    agent.stop()
    restless.shutdown()
    Liar.news = False


class Stranger(Liar):
    """A server that is no hive."""
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")


def test_stranger():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent = Agent(f"http://127.0.0.1:{server.server_port}", "stranger")
    program = Program(**HERE)
    case("a server that is no hive is called so", different(bool(until(lambda: "is not that of a hive" in agent.said())), True))
    case("unaffected, a server that is no hive", different(program.end(), OVER))
    agent.stop()
    server.shutdown()


def test_forged(build, real):
    liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{liar.server_port}"
    site, unit = real["sites"], real["unit"]
    forged = {"not of the table": {"sites": ["0123456789abcdef", site[1]]}, "no pair": {"unit": "0123456789abcdef"},
              "of another build": {"build": "00" * 20}, "too long a wait": {"tau_us": 10 ** 9},
              "no bundle": {"kind": "inference"}, "no task": {"task": "x"}}
    for name, change in forged.items():
        Liar.task = {"task": 1, "kind": "validation", "build": build, "unit": unit, "sites": site, "order": "primary",
                     "tau_us": 1000, **change}
        agent = Agent(address, "lies")
        program = Program(**HERE)
        said = until(lambda: "is refused" in agent.said() and armed(program.pid) >= 0)
        case(f"refused by the agent, {name}", different((bool(said), armed(program.pid)), (True, 0)))
        case(f"unaffected, {name}", different(program.end(), OVER))
        agent.stop()
    liar.shutdown()
    with open(PLAIN, encoding="ascii") as f:
        line = next(i for i, text in enumerate(f, 1) if "plain_count++" in text)
    p = subprocess.run([TOOLS + "/forge", "./forged", f"plain.c:{line}"], capture_output=True, text=True, timeout=LONG)
    case("refused by the program", different(p.stdout.splitlines()[-1:], ["exit 7, refused, no thread was stopped"]))


def test_run(server, build):
    """`deadheat run --hive`, in all the ways that can go wrong."""
    def hive(address, *args, key="key"):
        return [DEADHEAT, "run", f"--hive={address}", f"--key-file={key}", "--state=mine", *args, "--"]
    before = counts(server)["results"]
    program = Program(*hive(url(server), "--rmax=100%", "--head-start=30s", "--hang=1s"))
    program.tell("go")
    case("run, a result arrives", different(until(lambda: counts(server)["results"] > before), True))
    case("run, the program does not notice", different(program.end(), WENT))
    nobody = socket.socket()
    nobody.bind(("127.0.0.1", 0))
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen()
    for name, before in {"no hive": hive(f"http://127.0.0.1:{nobody.getsockname()[1]}"),
                         "a hive that does not answer": hive(f"http://127.0.0.1:{silent.getsockname()[1]}"),
                         "no key": hive(url(server), key="nothing"),
                         "a wrong key": hive(url(server), key="token")}.items():
        program = Program(*before)
        program.tell("go")
        case(f"run, {name}", different(program.end(), WENT))
    p = subprocess.run([*hive(url(server)), "./nothing"], capture_output=True, text=True, timeout=LONG)
    case("run, no program", different((p.returncode, "cannot run './nothing'" in p.stderr), (127, True)))
    homeless = Program(*(x for x in hive(url(server)) if not x.startswith("--state=")), HOME="", XDG_STATE_HOME="")
    code, out, err = homeless.end()
    case("run, nowhere to keep anything", different((code, out, "give --state=DIR" in err), (*OVER[:2], True)))
    case("run, users are told apart by their directory", different(os.listdir("mine"), [build[:16]]))


def test_full_disk(server):
    os.mkdir("disk")
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "disk"],
                                          capture_output=True, check=False).returncode:
        print("skip agent/full-disk: a small file system cannot be mounted here", flush=True)
        return
    try:
        with open("disk/full", "wb") as f:
            while f.write(b"x" * 4096):
                f.flush()
    except OSError:
        pass
    program = Program(DEADHEAT, "run", f"--hive={url(server)}", "--key-file=key", "--state=disk/state", "--head-start=30s",
                      "--hang=1s", "--")
    program.tell("go")
    case("full disk", different(program.end(), WENT))
    subprocess.run(["umount", "disk"], check=False)


def test_optout(server):
    agent = Agent(url(server), "state")
    program = Program(**HERE, DEADHEAT_OPTOUT="1")
    program.tell("go")
    program.process.stdout.readline()  # it is in main now
    with open(f"/proc/{program.pid}/maps", encoding="ascii") as f:
        case("opt-out", different(("memfd:deadheat" in f.read(), armed(program.pid)), (False, 0)))
    case("opt-out, the program", different(program.end(), OVER))
    agent.stop()


def test_strangers(build):
    """Directories that are not the user's own, or that others may write to, are not looked into."""
    def connects(directory, name="./prog"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = f"{directory}/deadheat/{build}"
        if os.path.exists(path):
            os.unlink(path)
        s.bind(path)
        s.listen()
        s.setblocking(False)
        program = Program(name=name, XDG_RUNTIME_DIR=os.getcwd() + "/" + directory)
        got = program.end()
        try:
            s.accept()[0].close()
            return True, got
        except BlockingIOError:
            return False, got
    os.makedirs("theirs/deadheat", mode=0o700, exist_ok=True)
    case("an agent is found", different(connects("theirs"), (True, OVER)))
    os.chmod("theirs/deadheat", 0o777)
    case("not where others may write", different(connects("theirs"), (False, OVER)))
    os.chmod("theirs/deadheat", 0o700)
    if os.getuid() == 0:
        shutil.copy("prog", "other")
        os.chown("other", 65534, 65534)
        os.chmod("other", 0o4755)
        case("not in a program with other rights", different(connects("theirs", "./other"), (False, OVER)))
        os.chown("theirs/deadheat", 65534, 65534)
        case("not of another owner", different(connects("theirs"), (False, OVER)))
    else:
        print("skip agent/not-of-another-owner: only root can make one", flush=True)
        print("skip agent/not-in-a-program-with-other-rights: only root can make one", flush=True)


def fresh(name):
    build = add_build(name)
    return build, serve(name)


def test_ordered():
    """Where something orders the two accesses, the hive learns that."""
    os.rename("prog", "raced")
    os.rename("ordered", "prog")
    add_build("sixth.db")
    server = serve("sixth.db")
    agent = Agent(url(server), "state")
    program = Program(**HERE)
    program.tell("go")
    case("accesses that are ordered", different(until(lambda: counts(server)["synchronisation"] or races(server)), 1))
    case("accesses that are ordered do not race", different((races(server), program.end()), (0, WENT)))
    agent.stop()
    server.stop()
    os.rename("raced", "prog")


def test_direct():
    """A program that blocks SIGILL by a system call of its own is left alone."""
    os.rename("prog", "raced")
    os.rename("direct", "prog")
    add_build("direct.db")
    server = serve("direct.db")
    agent = Agent(url(server), "direct-state")
    program = Program(**HERE)
    program.tell("go")
    until(lambda: armed(program.pid) > 0, 2)
    case("a program with system calls of its own", different((program.end(), races(server)), (WENT, 0)))
    agent.stop()
    server.stop()
    os.rename("raced", "prog")


def make_bundle(*how):
    """All pairs of the program become one bundle; or as bundle.c says."""
    with open("prog", "rb") as f:
        data = bytearray(f.read())
    out = subprocess.run(["readelf", "-SW", "prog"], capture_output=True, text=True, check=True).stdout
    offset, size = (int(n, 16) for n in re.search(r"\.deadheat\.pairs +PROGBITS +\w+ +(\w+) +(\w+)", out).groups())
    with open("table", "wb") as f:
        f.write(data[offset:offset + size])
    table = subprocess.run([TOOLS + "/bundle", "table", *how], capture_output=True, check=True).stdout
    data[offset:offset + len(table)] = table
    os.unlink("prog")
    with open("prog", "wb") as f:
        f.write(data)
    os.chmod("prog", 0o755)


def test_inference():
    """A bundle is looked at, and what met in it is confirmed."""
    make_bundle()
    add_build("seventh.db")
    server = serve("seventh.db")
    before = counts(server)
    agent = Agent(url(server), "state", "--hang=1s")
    program = Program(**HERE)
    program.tell("go")
    case("a bundle is narrowed", different((before["candidates"], before["bundles"], until(lambda: counts(server)["candidates"] > 0)),
                                           (0, 1, True)))
    case("what met in it is confirmed", different(until(lambda: races(server) > 0), True))
    case("and the program went on", different(program.end(), WENT))
    agent.stop()
    server.stop()


def test_watched():
    """The bytes of a bundle's accesses are watched, so a meeting with one that is not in it is seen."""
    if subprocess.run([TOOLS + "/watchpoints"], check=False).returncode:
        print("skip agent/a-meeting-outside-of-the-bundle: the kernel refuses watchpoints", flush=True)
        return
    os.rename("prog", "raced")
    os.rename("apart", "prog")
    make_bundle("apart")
    add_build("tenth.db")
    server = serve("tenth.db")

    def results():
        with sqlite3.connect("tenth.db") as db:
            return [json.loads(body) for (body,) in db.execute("SELECT body FROM events WHERE kind = 'result'")]

    def met():
        return [pair["saw"] for r in results() for pair in r["pairs"] if pair["saw"] in ("met", "race")]

    agent = Agent(url(server), "state", "--hang=1s")
    while not met() and len(results()) < 5:  # a program has a task, and each execution has its turn
        program = Program(**HERE)
        program.tell("go")
        n = len(results())
        until(lambda n=n: len(results()) > n)
        went = program.end()
    case("a meeting outside of the bundle", different((bool(met()), went), (True, WENT)))
    case("accesses that were reached", different(any(r["reached"] for r in results()), True))
    case("whatever has met is a candidate", different(counts(server)["candidates"] > 0, True))
    agent.stop()
    server.stop()
    os.rename("raced", "prog")


def test_no_budget():
    """A user whose budget covers nothing does not wait, and the hive is not told that an access was not reached."""
    add_build("eleventh.db")
    server = serve("eleventh.db")
    agent = Agent(url(server), "poor", "--rmax=0.000001%")  # of the minutes that a busy machine may take, too
    case("a user without a budget has a task", different(until(lambda: counts(server)["users"]), 1))
    program = Program(**HERE)
    program.tell("go")
    program.process.stdout.readline()  # it is in main now
    case("nothing is tried without a budget", different((armed(program.pid), program.end()), (0, OVER)))
    balance = until(lambda: [f for f in files("poor") if f.endswith("balance")])[0]
    until(lambda: int(open(balance, encoding="ascii").read().split()[1]) or spooled("poor") or counts(server)["results"])
    agent.stop()
    numbers = [int(n) for n in open(balance, encoding="ascii").read().split()]
    case("and there is no result", different((counts(server)["results"], spooled("poor")), (0, [])))
    case("but it is known how long the program ran", different((numbers[2] <= 1, numbers[3] > 0), (True, True)))
    server.stop()


def test_certificates():
    add_build("fifth.db")
    server = serve("fifth.db", "--cert=cert.pem", "--key=key.pem")
    agent = Agent(url(server), "tls", "--cacert=cert.pem")
    program = Program(**HERE)
    case("certificates that are given", different(until(lambda: armed(program.pid) > 0), True))
    program.end()
    agent.stop()
    agent = Agent(url(server), "tls")
    case("certificates are verified", different(until(lambda: "cannot be reached" in agent.said()), True))
    agent.stop()
    server.stop()


def main():
    build, server = fresh("first.db")
    real = server.ask("POST", "/v1/poll", {"build": build}, open("key", encoding="ascii").read().strip(), draw())[1]["task"]
    test_strangers(build)
    test_confirmed(server)
    server.stop()
    build, server = fresh("second.db")
    test_run(server, build)
    test_full_disk(server)
    test_optout(server)
    server.stop()
    build, server = fresh("third.db")
    test_withdrawn(server, build)
    server.stop()
    build, server = fresh("eighth.db")
    test_killed_agent(server)
    test_stopped_agent(server)
    test_crash(server)
    server.stop()
    build, server = fresh("ninth.db")
    test_hang(server)
    server.stop()
    build = add_build("fourth.db")
    test_dead_hive("fourth.db")
    test_words()
    test_silent_hive()
    test_restless()
    test_stranger()
    test_forged(build, real)
    test_no_budget()
    test_certificates()
    test_ordered()
    test_direct()
    test_watched()
    test_inference()
    client.finish()


main()
