"""Programs for a crowd, the hives that ask about them, and the agents that attend to them: for bench/crowd."""
import dataclasses
import json
import math
import os
import pathlib
import re
import secrets
import shlex
import signal
import socket
import subprocess
import time
import urllib.request

import harness
import jobs
from steps import Server, client, free_port

HERE = pathlib.Path(__file__).resolve().parent
WHEN_UP = HERE / "real" / "when-up"
SMALL = HERE / "programs"
SMALL_FLAGS = ["-g", "-O1", "-pthread"]
# The order of accesses that race is the usual one there, not the only one.
PATIENCE = "-DAFTER_AT_MOST_MS=10"
THREADS, SCALES = 4, (20, 40, 80, 160, 320, 400)
LONG_S = 1.0  # what is measured by the clock has the first scale with which it takes so long, or the largest
CROWD_S, USER_S, VISITS = 0.2, 1.0, (5, 40)  # what a crowd runs: so long at a time and for a user, in so many runs
# What the real programs do for a crowd, and to be measured by the clock: rounds of memcached's clients; megabytes.
CONNECTIONS, ROUNDS, LONG_ROUNDS = 4, 500, 5000
INPUTS, LONG_INPUTS = (1, 2, 3, 4), (24, 28, 32, 36)
KINDS = ("native", "field", "tsan")
FRAME = re.compile(r"^    #\d+ \S.*? (\S+?):(\d+)(?::\d+)?(?: \(|$)")


class Hive:
    """`deadheat hive serve` on a port of its own, with its database in a directory."""

    def __init__(self, deadheat, directory):
        self.deadheat, self.directory, self.process = deadheat, pathlib.Path(directory), None
        self.db, self.token = self.directory / "hive.db", self.directory / "token"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.token.write_text(secrets.token_hex(32) + "\n", encoding="ascii")

    def command(self, *argv):
        return harness.answer([self.deadheat, "hive", argv[0], f"--db={self.db}", *argv[1:]], f"hive {argv[0]} failed")

    def add(self, name, program):
        """Register a build; the file with its key. Its candidates are those of `relay`, or, if that has none, of `sound`."""
        out = self.command("add", f"--program={name}", program)
        self.style, self.empty = "relay", False
        if none := re.search(r"build (\w+) added: 0 candidates, 0 bundles", out):
            self.style = "sound"
            self.command("forget", f"--build={none[1]}")
            again = self.command("add", f"--program={name}", "--style=sound", program)
            self.empty = "0 candidates, 0 bundles" in again
        key = self.directory / f"{name}.key"
        key.write_text(out.rsplit("shown once: ", maxsplit=1)[-1].splitlines()[0], encoding="ascii")
        return key

    def __enter__(self):
        argv = [self.deadheat, "hive", "serve", f"--db={self.db}", f"--admin-token-file={self.token}", "--listen=127.0.0.1:0"]
        self.process = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "serving on " not in line:
            raise harness.Failure("the hive does not begin")
        self.url = line.rsplit("serving on ", maxsplit=1)[-1].strip()
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def candidates(self, name):
        return json.loads(self.command("export", "--format=json", f"--program={name}"))["candidates"]

    def forget_verdicts(self, name):
        """Whatever has one is to be tried again."""
        for row in self.candidates(name):
            if row.get("verdict", "unknown") != "unknown":
                self.command("forget", f"--program={name}", f"--candidate={row['id']}")

    def get(self, path):
        """What the hive, which is running, answers its administrator."""
        token = self.token.read_text(encoding="ascii").strip()
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def cost(self, name):
        """How long the users ran the program and were made to wait, as the hive has counted it."""
        users = self.get(f"/v1/users?program={name}&limit=1000")["users"]
        return {k: sum(user[k] for user in users) for k in ("run_us", "waited_us", "results")}

    def races(self, name):
        """The pairs of lines that are true races."""
        sites = [r["sites"] for r in self.candidates(name) if r.get("verdict") == "true-race"]
        return {line_pair([(s["file"], s["line"]) for s in pair]) for pair in sites}


class Agent:
    """`deadheat agent`, a user's daemon, which programs find by the environment that it gives."""

    def __init__(self, deadheat, hive, key, program, directory):
        self.runtime = pathlib.Path(directory)
        self.runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.argv = [deadheat, "agent", f"--hive={hive.url}", f"--key-file={key}", f"--state={directory}/state", program]
        self.environment = {"XDG_RUNTIME_DIR": str(self.runtime)}

    def __enter__(self):
        self.process = subprocess.Popen(
            [str(a) for a in self.argv],
            env=dict(os.environ, **self.environment),
            stderr=subprocess.PIPE,
            text=True,
        )
        if "ready" not in self.process.stderr.readline():
            raise harness.Failure("the agent does not begin")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def wait_for_answer(self, hive):
        """Until the hive has given a task, or has said that it does not know the build."""
        for _ in range(600):
            if any(self.runtime.glob("state/*/trouble")) or hive.get("/v1/users")["users"]:
                return
            time.sleep(0.05)
        raise harness.Failure("the hive gives no task")


def untold(directory):
    """What an agent has accounted for since its last result (src/agent/balance.h)."""
    balances = [p.read_text(encoding="ascii").split() for p in pathlib.Path(directory).glob("state/*/balance")]
    return {"run_us": sum(int(p[1]) for p in balances), "waited_us": sum(int(p[2]) for p in balances)}


def line_pair(lines):
    return "-".join(sorted(f"{pathlib.Path(file).name}:{line}" for file, line in lines))


def tsan_races(text):
    """The pairs of lines of all data races in reports of ThreadSanitizer: of each access, the innermost of the program's
    own frames. And how many have an access of which there is none."""
    found, outside = set(), 0
    for report in text.split("WARNING: ThreadSanitizer: data race")[1:]:
        sides = re.split(r"^  (?:Previous )?(?:atomic )?(?:[Rr]ead|[Ww]rite) of size .*$", report, flags=re.MULTILINE)[1:3]
        frames = [own_frame(side) for side in sides]
        if len(frames) < 2 or None in frames:
            outside += 1
        else:
            found.add(line_pair(frames))
    return found, outside


def own_frame(side):
    for line in side.split("\n\n", maxsplit=1)[0].splitlines():
        frame = FRAME.match(line)
        if frame and not frame[1].startswith(("/usr", "../", "<null>")):
            return frame[1], frame[2]
    return None


@dataclasses.dataclass
class Work:
    """What a crowd runs: arguments of the program, with what `deadheat crowd` replaces in them, and flags of the crowd."""

    arguments: list
    flags: list = dataclasses.field(default_factory=list)


class Small:
    """A program of bench/programs."""

    def __init__(self, bench, source):
        self.bench, self.source = bench, source
        self.name = source.stem
        self.arguments = [] if source.parent != SMALL else [THREADS, SCALES[0]]

    @property
    def report(self):
        """What ThreadSanitizer has reported, including in runs that were stopped."""
        return "".join(p.read_text(errors="replace") for p in self.bench.directory.glob(f"{self.name}.said.*"))

    def lengthen(self, seconds=LONG_S):
        """How long it takes then, of two runs the shorter. A program that has no such scale keeps the largest it has."""
        wall, before = None, self.arguments
        for scale in SCALES if self.arguments else (None,):
            self.arguments = [THREADS, scale] if scale else []
            try:
                wall = min(self.run("native", 0, {})["wall"] for _ in range(2))
            except harness.Failure:
                self.arguments = before
                if wall is None:
                    raise
                break
            before = self.arguments
            if wall >= seconds:
                break
        return wall

    def program(self, kind):
        path = self.bench.directory / f"{self.name}.{kind}"
        if not path.exists():
            patient = kind == "field" and not self.bench.options.overhead
            flags = [*SMALL_FLAGS, *([PATIENCE] if patient else [])]
            harness.build([*self.bench.tools.cc(kind), *flags, self.source, "-o", path, "-lm"], self.bench.directory / "log")
        return path

    def work(self, _):
        wall = self.lengthen(CROWD_S)
        visit = max(VISITS[0], min(VISITS[1], math.ceil(USER_S / max(wall, 1e-3))))
        return Work(self.arguments, [f"--visit={visit}"])

    def run(self, kind, _, environment):
        env = dict(harness.environment(kind), **environment)
        if kind == "tsan":
            env["TSAN_OPTIONS"] += f":log_path={self.bench.directory / self.name}.said"
        sample, status, *_ = self.bench.meter.run([self.program(kind), *self.arguments], timeout=self.bench.options.timeout, env=env)
        if status not in (0, harness.RACED):
            raise harness.Failure(f"exit {status}" if status > 0 else f"signal {-status}")
        return sample


class Strange(Small):
    """A program that nobody runs: a hive has to know one."""

    def __init__(self, bench):
        super().__init__(bench, SMALL / "account.c")
        self.name = "strange"


class Real:
    """What the real programs have in common."""

    def __init__(self, bench, program):
        self.bench, self.name = bench, program.name
        self.jobs = {kind: jobs.Job(bench.real, program, kind) for kind in KINDS}
        self.is_long = False

    def lengthen(self):
        self.is_long = True

    def build(self, kind):
        self.jobs[kind].build()
        if kind == "tsan":
            self.jobs[kind].report.unlink(missing_ok=True)
        return self.jobs[kind]

    @property
    def report(self):
        path = self.jobs["tsan"].report
        return path.read_text(errors="replace") if path.exists() else ""


class Pbzip2(Real):
    def program(self, kind):
        return self.build(kind).tree / "pbzip2"

    def inputs(self):
        directory = self.bench.directory / "inputs"
        directory.mkdir(exist_ok=True)
        for n in LONG_INPUTS if self.is_long else INPUTS:
            if not (directory / str(n)).exists():
                (directory / str(n)).symlink_to(self.jobs["native"].input(n))
        return directory

    def work(self, _):
        return Work(["-p2", "-9", "-k", "-c", "{input}"], [f"--inputs={self.inputs()}"])

    def run(self, kind, n, environment):
        job = self.jobs[kind]
        sizes = LONG_INPUTS if self.is_long else INPUTS
        argv = [self.program(kind), "-p2", "-9", "-k", "-c", self.inputs() / str(sizes[n % len(sizes)])]
        with Environment(environment):
            return job.measure(argv, stdout=subprocess.DEVNULL)


class Memcached(Real):
    def program(self, kind):
        return self.build(kind).tree / "memcached"

    @staticmethod
    def arguments(port):
        return ["-l", "127.0.0.1", "-p", port, "-U", 0, "-t", 2, "-m", 64, "-u", "root"]

    def load(self, port):
        rounds = LONG_ROUNDS if self.is_long else ROUNDS
        return [self.jobs["native"].helper("memcached_client.c"), port, CONNECTIONS, rounds]

    def work(self, n_jobs):
        port = f"{free_ports(n_jobs)}{{job}}"
        command = shlex.join(str(a) for a in (WHEN_UP, port, *self.load(port)))
        return Work(self.arguments(port), [f"--client={command}"])

    def run(self, kind, _, environment):
        port = free_port()
        with Environment(environment), Server(self.jobs[kind], [self.program(kind), *self.arguments(port)], port) as server:
            _, wall = client(self.load(port))
            return server.finish(wall)


class Environment:
    """More variables for the programs that are started meanwhile."""

    def __init__(self, more):
        self.more, self.before = more, {}

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.more}
        os.environ.update(self.more)

    def __exit__(self, *_):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(n):
    """A number that makes a free port with each of the digits 0 to n - 1 behind it."""
    for base in range(1100 + secrets.randbelow(1000), 3200):
        if all(is_free(10 * base + digit) for digit in range(n)):
            return base
    raise harness.Failure("no free ports")
