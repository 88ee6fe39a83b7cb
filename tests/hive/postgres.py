"""postgres.py - a PostgreSQL server of one's own in a directory, for tests and benchmarks; it runs as an unprivileged user, and
listens on a socket in that directory only.

  postgres.py DIR make       makes one, and starts it
  postgres.py DIR restart    kills it, all of its processes at once, and starts it again
  postgres.py DIR pause      stops it as it is: it neither answers nor refuses
  postgres.py DIR resume     lets it go on
  postgres.py DIR stop       ends it
"""
import glob
import os
import pathlib
import signal
import subprocess
import sys
import time


class Postgres:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.bin = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1])
        self.unprivileged = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        self.url = f"postgres://hive@/postgres?host={self.directory}"

    def run(self, *argv):
        with open(self.directory / "log", "a", encoding="utf-8") as log:
            subprocess.run([*self.unprivileged, *map(str, argv)], check=True, stdout=log, stderr=log,
                           cwd=self.directory, timeout=120)

    def make(self):
        self.directory.mkdir(mode=0o755)
        if self.unprivileged:
            subprocess.run(["chown", "postgres", str(self.directory)], check=True)
        self.run(self.bin / "initdb", "-D", self.data, "-A", "trust", "-U", "hive")
        self.start()
        return self

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.directory}"
        self.run(self.bin / "pg_ctl", "-D", self.data, "-w", "-o", options, "-l", self.directory / "server.log", "start")

    def stop(self):
        self.run(self.bin / "pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def processes(self):
        leader = int((self.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
        children = pathlib.Path(f"/proc/{leader}/task/{leader}/children").read_text(encoding="ascii")
        return [leader, *map(int, children.split())]

    def pause(self):
        for process in self.processes():
            os.kill(process, signal.SIGSTOP)

    def resume(self):
        for process in self.processes():
            os.kill(process, signal.SIGCONT)

    def kill(self):
        """kill -9 of the server and all that it has started: nothing is written any more."""
        processes = self.processes()
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it had ended by itself
        for process in processes:
            while alive(process):
                time.sleep(0.01)
        # A server that starts asks whether the old one still exists, and one that nobody has waited for does.
        for left in (self.data / "postmaster.pid", *self.directory.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)

    def restart(self):
        self.kill()
        self.start()


def alive(process):
    """Whether it can still do something: what nobody has waited for cannot."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


if __name__ == "__main__":
    getattr(Postgres(sys.argv[1]), sys.argv[2])()
