"""client.py - what hive.py, and tests/agent, need to talk to a hive: servers, requests, and the cases' lines."""
import http.client
import json
import os
import secrets
import signal
import ssl
import subprocess
import sys

FAILED = False
SUITE = "hive"


def case(name, wrong):
    """One line of the test: wrong is empty if all is well."""
    global FAILED
    name = name.replace(",", "").replace(" ", "-")
    if wrong:
        FAILED = True
        print(f"FAIL {SUITE}/{name}: {str(wrong)[:600]}", flush=True)
    else:
        print(f"ok {SUITE}/{name}", flush=True)


def different(got, wanted):
    return "" if got == wanted else f"got {got!r}, not {wanted!r}"


def run(deadheat, *args):
    p = subprocess.run([deadheat, "hive", *args], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


class Server:
    """`deadheat hive serve` on a port of its own."""

    def __init__(self, deadheat, db, *args, port=0, token="token"):
        if token:
            args = (f"--admin-token-file={token}", *args)
        self.process = subprocess.Popen(
            [deadheat, "hive", "serve", f"--db={db}", f"--listen=127.0.0.1:{port}", *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "serving on" not in line:
            raise RuntimeError(self.process.stderr.read())
        self.tls = "https://" in line
        self.port = int(line.rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60,
                                               context=ssl.create_default_context(cafile="cert.pem"))
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, key=None, user=None, connection=None):
        """Status and document."""
        c = connection or self.connect()
        headers = {}
        if key:
            headers["Authorization"] = "Bearer " + key
        if user:
            headers["X-Deadheat-User"] = user
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        c.request(method, path, data, headers)
        r = c.getresponse()
        text = r.read()
        if connection is None:
            c.close()
        kind = r.getheader("Content-Type") or ""
        return r.status, json.loads(text) if kind == "application/json" else text.decode()


def draw():
    return secrets.token_hex(16)


def result(task, what, **more):
    return {"id": draw(), "task": task, "result": what, "run": draw(), "waited_us": 5, "run_us": 100, **more}


def finish():
    sys.exit(1 if FAILED else 0)


def token():
    with open("token", "w", encoding="ascii") as f:
        f.write(secrets.token_hex(32) + "\n")
    os.chmod("token", 0o600)
    with open("token", encoding="ascii") as f:
        return f.read().strip()
