"""What the real programs have in common: samples that add up, files that are compared, servers and their clients."""
import socket
import subprocess
import time

import harness

MAKE = ["make", "-j2"]
CFLAGS = " ".join(harness.FLAGS)


def add(samples):
    """One sample out of several runs that follow each other: times add up, the peak is the largest."""
    return {
        "wall": sum(s["wall"] for s in samples),
        "cpu": sum(s["cpu"] for s in samples),
        "rss": max(s["rss"] for s in samples),
    }


def same(a, b):
    return subprocess.run(["cmp", "-s", a, b], check=False).returncode == 0


def configured(*flags):
    """./configure with these flags, then make."""

    def steps(job):
        yield ["./configure", f"CC={job.cc}", f"CFLAGS={CFLAGS}", *flags]
        yield MAKE

    return steps


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def await_port(process, port):
    """Wait until a server accepts; false if it ended or took too long."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.005)
    return False


class Server:
    """A server under measurement: started, waited for until it accepts, and stopped by signal in any case."""

    def __init__(self, job, argv, port):
        self.job, self.port = job, port
        self.process = job.start(argv)

    def __enter__(self):
        if await_port(self.process, self.port):
            return self
        self.__exit__()
        raise harness.Failure("did not start")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()

    def finish(self, wall):
        """The server's memory and processor time, and the time its client took."""
        self.__exit__()
        return dict(self.job.finish(self.process), wall=wall)


def client(argv, timeout=300):
    """Run a client; returns its output and how long it took."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            [str(a) for a in argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise harness.TimedOut("timeout") from late
    if done.returncode:
        raise harness.Failure("client: " + done.stdout.decode(errors="replace").strip().splitlines()[-1][:60])
    return done.stdout, time.monotonic() - start
