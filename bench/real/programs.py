"""The real programs: how each is built from its unmodified Debian source, and what it is made to do.

A program has `package` (the Debian source), `build(job)` and `run(job)`. A job names one build of one
program: `job.kind`, `job.tree` (its own copy of the source), `job.cc`, `job.cxx`, and helpers. run()
returns a sample and the bytes that must be the same for every build. Exit status 66 means that the
detector found races; anything else but 0 is a failure. Those that race also have `races`: names, and the work
in which they do, as functions of the program and a job.
"""
import hashlib
import pathlib
import shutil
import subprocess
import time

import harness
import stores
import video
from steps import CFLAGS, MAKE, Server, add, client, configured, free_port, same

HERE = pathlib.Path(__file__).resolve().parent


class Compressor:
    """Compress and expand one file with two threads; every build must make the same compressed bytes."""

    def __init__(self, name, package, tool, compress, expand, build):
        self.name, self.package, self.tool = name, package, tool
        self.compress, self.expand, self.steps = compress, expand, build

    def build(self, job):
        for step in self.steps(job):
            job.step(step)

    def run(self, job):
        data = job.input(4 if job.quick else 24)
        tool, packed, back = job.tree / self.tool, job.scratch / "packed", job.scratch / "back"
        samples = []
        for arguments, source, target in ((self.compress, data, packed), (self.expand, packed, back)):
            with open(source, "rb") as i, open(target, "wb") as o:
                samples.append(job.measure([tool] + arguments, stdin=i, stdout=o))
        if not same(data, back):
            raise harness.Failure("round trip failed")
        return add(samples), hashlib.sha256(packed.read_bytes()).digest()


class Memcached:
    name, package = "memcached", "memcached"

    def build(self, job):
        job.step(["./configure", f"CC={job.cc}", f"CFLAGS={CFLAGS}", "--disable-docs", "--disable-coverage"])
        job.step(MAKE + ["memcached"])

    def run(self, job):
        port = free_port()
        argv = [
            job.tree / "memcached",
            "-l",
            "127.0.0.1",
            "-p",
            port,
            "-U",
            "0",
            "-t",
            "2",
            "-m",
            "64",
            "-u",
            "root",
        ]
        with Server(job, argv, port) as server:
            tool = job.helper("memcached_client.c")
            out, wall = client([tool, port, 8, 500 if job.quick else 6000])
            return server.finish(wall), out

    races = {"memcached": run}


class Redis:
    name, package = "redis", "redis"
    # Big values and keys, so that freeing in the background has work to do.
    SCRIPT = [
        ["SET", "greeting", "hello"],
        ["GET", "greeting"],
        ["INCRBY", "n", "41"],
        ["INCR", "n"],
        ["EVAL", "for i=1,20000 do redis.call('rpush','list',i) end return redis.call('llen','list')", "0"],
        ["EVAL", "for i=1,20000 do redis.call('hset','hash',i,string.rep('v',100)) end return 1", "0"],
        ["LRANGE", "list", "9", "11"],
        ["HGET", "hash", "77"],
        ["UNLINK", "list", "hash"],
        ["EXISTS", "list"],
        ["BGSAVE"],
    ]

    def build(self, job):
        # MALLOC=libc: jemalloc replaces malloc in a way neither detector follows. The clients are always native.
        clients = ["redis-cli", "redis-benchmark"] if job.kind == "native" else []
        job.step(
            MAKE
            + [
                "-C",
                "src",
                f"CC={job.cc}",
                "OPTIMIZATION=-O2",
                "DEBUG=-g",
                "MALLOC=libc",
                "USE_SYSTEMD=no",
                "redis-server",
                *clients,
            ]
        )

    def run(self, job):
        port = free_port()
        argv = [
            job.tree / "src" / "redis-server",
            "--port",
            port,
            "--bind",
            "127.0.0.1",
            "--io-threads",
            "2",
            "--io-threads-do-reads",
            "yes",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            job.scratch,
        ]
        tools = job.native_tree / "src"
        cli = [tools / "redis-cli", "-p", port]
        with Server(job, argv, port) as server:
            _, wall = client(
                [
                    tools / "redis-benchmark",
                    "-p",
                    port,
                    "-q",
                    "-c",
                    "40",
                    "-P",
                    "8",
                    "-r",
                    "1000",
                    "-n",
                    8000 if job.quick else 100000,
                    "-t",
                    "set,get,incr,lpush,lpop,sadd,hset,zadd",
                ]
            )
            client(cli + ["FLUSHALL"])
            out = b"".join(client(cli + command)[0] for command in self.SCRIPT)
            self.await_save(cli)
            out += client(cli + ["FLUSHALL", "ASYNC"])[0] + client(cli + ["DBSIZE"])[0]
            return server.finish(wall), out

    @staticmethod
    def await_save(cli):
        """The background save is a forked process: wait for it, and see that it went well."""
        deadline = time.monotonic() + 120
        while b"rdb_bgsave_in_progress:0" not in (info := client(cli + ["INFO", "persistence"])[0]):
            if time.monotonic() > deadline:
                raise harness.Failure("the save hangs")
            time.sleep(0.1)
        if b"rdb_last_bgsave_status:ok" not in info:
            raise harness.Failure("the save failed")


class Sqlite:
    """SQLite under a client of ours; its own thread tests, which run for a fixed time, as a check."""

    name, package = "sqlite", "sqlite3"
    OPTIONS = ["-DSQLITE_THREADSAFE=1", "-I.", "-Isrc"]
    QUICK = ["walthread5", "cgt_pager_1"]
    TESTS = QUICK + [
        "walthread1",
        "walthread2",
        "walthread3",
        "dynamic_triggers",
        "checkpoint_starvation_1",
        "create_drop_index_1",
        "lookaside1",
        "vacuum1",
        "stress1",
        "shared1",
    ]

    def build(self, job):
        job.step(["./configure", f"CC={job.cc}", f"CFLAGS={CFLAGS}", "--disable-tcl", "--disable-readline"])
        job.step(["make", "sqlite3.c"])
        compiler = job.cc.split() + harness.FLAGS + self.OPTIONS
        job.step(compiler + ["-c", "sqlite3.c"])
        job.step(compiler + [HERE / "sqlite_threads.c", "sqlite3.o", "-ldl", "-lm", "-o", "sqlite_threads"])
        job.step(
            compiler
            + ["test/threadtest3.c", "src/test_multiplex.c", "sqlite3.o", "-ldl", "-lm", "-o", "threadtest3"]
        )

    def run(self, job):
        files = job.scratch / "db"
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir()
        sample, out = job.measure_output([job.tree / "sqlite_threads", files, 40 if job.quick else 300])
        return sample, out

    def check(self, job):
        self.run_tests(job, self.QUICK if job.quick else self.TESTS)

    @staticmethod
    def run_tests(job, tests):
        files = job.scratch / "tt3"
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir()
        for test in tests:
            job.measure([job.tree / "threadtest3", test], cwd=files, stdout=subprocess.DEVNULL)

    races = {
        "sqlite dynamic_triggers": lambda self, job: self.run_tests(job, ["dynamic_triggers"]),
        "sqlite walthread3": lambda self, job: self.run_tests(job, ["walthread3"]),
    }


class Demo:
    """The README's example: next to nothing but a race."""

    name, package = "demo", None

    def build(self, job):
        source = harness.ROOT / "examples" / "demo" / "hits.c"
        job.step(job.cc.split() + harness.FLAGS + [source, "-o", "hits"])

    def run(self, job):
        return job.measure([job.tree / "hits"], stdout=subprocess.DEVNULL), None

    races = {"demo": run}


PROGRAMS = [
    Compressor(
        "pbzip2",
        "pbzip2",
        "pbzip2",
        ["-p2", "-c", "-9"],
        ["-d", "-p2", "-c"],
        # Its string literals are older than C++11; the Makefile adds to CXXFLAGS, so flags go with CXX.
        lambda job: [MAKE + [f"CXX={job.cxx} {CFLAGS} -Wno-reserved-user-defined-literal"]],
    ),
    Compressor(
        "pigz",
        "pigz",
        "pigz",
        ["-p2", "-n", "-c"],
        ["-d", "-p2", "-c"],
        lambda job: [MAKE + [f"CC={job.cc}", f"CFLAGS={CFLAGS}", "pigz"]],
    ),
    Compressor(
        "xz",
        "xz-utils",
        "src/xz/xz",
        ["-T2", "-3", "--block-size=2MiB", "-c"],
        ["-d", "-T2", "-c"],
        configured("--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts"),
    ),
    Compressor(
        "zstd",
        "libzstd",
        "programs/zstd",
        ["-T2", "-9", "-B1048576", "-c"],
        ["-d", "-c"],
        lambda job: [
            MAKE
            + [
                "-C",
                "programs",
                f"CC={job.cc}",
                f"CFLAGS={CFLAGS}",
                "HAVE_THREAD=1",
                "HAVE_ZLIB=0",
                "HAVE_LZMA=0",
                "HAVE_LZ4=0",
                "zstd",
            ]
        ],
    ),
    Compressor("lbzip2", "lbzip2", "src/lbzip2", ["-n2", "-c"], ["-d", "-n2", "-c"], configured()),
    Memcached(),
    Redis(),
    Sqlite(),
    stores.Leveldb(),
    stores.Unbound(),
    stores.Zpaq(),
    video.X264(),
    video.Dav1d(),
]
RACY = [Demo()] + [p for p in PROGRAMS if hasattr(p, "races")]


def add_flags(parser):
    """The flags that choose among kernels and real programs."""
    names = ", ".join(p.name for p in PROGRAMS)
    parser.add_argument("--only", metavar="NAME", action="append", help=f"only this kernel or real program ({names})")
    parser.add_argument("--real", metavar="NAME", action="append", help="of the real programs only this; all kernels")


def chosen(parser, options, small):
    """The real programs that are asked for; small: none, unless they are named."""
    names = [p.name for p in PROGRAMS]
    if unknown := set(options.real or ()) - set(names):
        parser.error(f"no such real program: {', '.join(sorted(unknown))}")
    wanted = options.only or options.real or ([] if small else names)
    return [p for p in PROGRAMS if p.name in wanted]
