"""own.py DEADHEAT OBJ - a hive built by `deadheat cc`, under the load of bench/hiveload.c: it must not race."""
import json
import os
import pathlib
import subprocess
import sys

from client import Server, case, different, finish, run, token

DEADHEAT, OBJ = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def command(*argv):
    """Empty, or what it said when it failed."""
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr) if done.returncode else ""


def main():
    wrong = command(HERE / "build.sh", DEADHEAT, OBJ, "own", "own") or command(
        "clang-19", "-O2", "-D_GNU_SOURCE", f"-I{ROOT}/src", ROOT / "bench" / "hiveload.c", "-o", "hiveload")
    case("own/build", wrong)
    if wrong:
        finish()
    os.environ["DEADHEAT_LIBDIR"] = os.path.abspath("own")
    out = run(DEADHEAT, "add", "--db=own.db", "--program=load", "./many")[1]
    key, build, admin = out.rsplit(": ", 1)[-1].strip(), out.split("build ")[1].split()[0], token()
    server = Server(DEADHEAT, "own.db", "--rate=100000")
    load = subprocess.run(["./hiveload", "-k", key, "-b", build, "-A", admin, "-n", "60", "-v", "4", "-t", "0.05", "-W", "1", "-w", "0", "-s", "3",
                           "-a", "acks", str(server.port)], capture_output=True, text=True, check=True)
    said = json.loads(load.stdout)
    case("own/serves", different((said["wrong"], said["given_twice"], said["acknowledged"] > 0), (0, 0, True)) and said)
    checked = subprocess.run(["./hiveload", "-k", key, "-b", build, "-c", "acks", str(server.port)], capture_output=True, text=True, check=True)
    case("own/nothing is lost", different(json.loads(checked.stdout)["missing"], 0))
    status = server.stop()
    case("own/does not race", "" if status == 0 else server.process.stderr.read())
    finish()


main()
