"""More real programs, as programs.py has them: those that keep and hand out data."""
import contextlib
import re
import shutil

import harness
from steps import CFLAGS, MAKE, Server, add, await_port, client, free_port, same


class Leveldb:
    """LevelDB under its own db_bench, whose threads put, overwrite, get and seek while another compacts."""

    name, package = "leveldb", "leveldb"
    WORK = "fillrandom,overwrite,readrandom,seekrandom,compact,readrandom,readmissing"

    def build(self, job):
        # Without the libraries that it would use if it found them: they would not be instrumented.
        job.step(
            ["cmake", "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=None", "-DLEVELDB_BUILD_TESTS=OFF"]
            + [f"-DHAVE_{library}=0" for library in ("SNAPPY", "CRC32C", "TCMALLOC")]
            + [f"-DCMAKE_CXX_FLAGS={CFLAGS} {' '.join(job.cxx.split()[1:])}", f"-DCMAKE_C_FLAGS={CFLAGS}"]
            + [f"-DCMAKE_C_COMPILER={job.cc.split()[0]}", f"-DCMAKE_CXX_COMPILER={job.cxx.split()[0]}"]
        )
        job.step(MAKE + ["-C", "out", "db_bench"])

    def run(self, job):
        files = job.scratch / "db"
        shutil.rmtree(files, ignore_errors=True)
        argv = ["--threads=2", f"--num={4000 if job.quick else 30000}", f"--benchmarks={self.WORK}"]
        sample, out = job.measure_output([job.tree / "out" / "db_bench", f"--db={files}", *argv])
        # Beside times, it says how many keys one of its threads found: the same whenever what was compacted.
        return sample, b" ".join(re.findall(rb"\((\d+ of \d+) found\)", out))


class Unbound:
    """A resolver with two threads, asking another (always the plain build) that has the answers."""

    name, package = "unbound", "unbound"
    NAMES = 20000
    COMMON = """server:
    interface: 127.0.0.1@{port}
    num-threads: {threads}
    do-daemonize: no
    use-syslog: no
    chroot: ""
    username: ""
    pidfile: ""
    directory: ""
    module-config: "iterator"
    do-ip6: no
    so-reuseport: yes
    qname-minimisation: no
    do-not-query-localhost: no
"""
    # Caches that do not hold all names, so that threads evict from them as well.
    RESOLVER = """    local-zone: "test." nodefault
    msg-cache-size: 2m
    rrset-cache-size: 2m
remote-control:
    control-enable: no
stub-zone:
    name: "bench.test"
    stub-addr: 127.0.0.1@{authority}
"""

    def build(self, job):
        job.step(
            ["./configure", f"CC={job.cc}", f"CFLAGS={CFLAGS}", "--with-pthreads", "--disable-shared"]
            + ["--disable-flto", "--without-pyunbound", "--without-pythonmodule"]
        )
        job.step(MAKE + ["unbound"])

    def configuration(self, job, port, authority):
        path = job.scratch / f"{'resolver' if authority else 'authority'}.conf"
        text = self.COMMON.format(port=port, threads=2 if authority else 1)
        if authority:
            text += self.RESOLVER.format(authority=authority)
        else:
            text += '    local-zone: "bench.test." static\n'
            for n in range(self.NAMES):
                text += f'    local-data: "h{n}.bench.test. 3600 IN A 10.{n >> 16}.{n >> 8 & 255}.{n & 255}"\n'
            text += "remote-control:\n    control-enable: no\n"
        path.write_text(text, encoding="ascii")
        return path

    def run(self, job):
        authority, port = free_port(), free_port()
        answers = self.configuration(job, authority, None)
        plain = job.beside([job.native_tree / "unbound", "-d", "-c", answers])
        with contextlib.ExitStack() as stack:
            stack.callback(plain.wait)
            stack.callback(plain.terminate)
            if not await_port(plain, authority):
                raise harness.Failure("did not start")
            resolver = self.configuration(job, port, authority)
            argv = [job.tree / "unbound", "-d", "-c", resolver]
            server = stack.enter_context(Server(job, argv, port))
            tool = job.helper("dns_client.c")
            out, wall = client([tool, port, self.NAMES, 4, 2000 if job.quick else 15000])
            return server.finish(wall), out


class Zpaq:
    """An archiver in C++: splits files into fragments, of which threads compress and expand blocks."""

    name, package = "zpaq", "zpaq"

    def build(self, job):
        # NOJIT: it would else generate code of its own, which no detector sees.
        job.step(MAKE + [f"CXX={job.cxx}", f"CXXFLAGS={CFLAGS}", "CPPFLAGS=-Dunix -DNOJIT", "zpaq"])

    def run(self, job):
        data = job.input(2 if job.quick else 4)
        archive, back = job.scratch / "packed.zpaq", job.scratch / "back"
        archive.unlink(missing_ok=True)
        back.unlink(missing_ok=True)
        tool = [job.tree / "zpaq"]
        # Blocks of 1 MiB, so that both threads have some.
        samples = [
            job.measure(tool + ["add", archive, data, "-method", "20", "-threads", "2"]),
            job.measure(tool + ["extract", archive, data, "-to", back, "-threads", "2"]),
        ]
        if not same(data, back):
            raise harness.Failure("round trip failed")
        return add(samples), None
