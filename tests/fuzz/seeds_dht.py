"""seeds_dht.py DIRECTORY - writes the corpus of fuzz_dht: small recordings in the form that it takes.

The encoder here is the plainest there is (event/dht_code.h, dht_calls.h): every event names its site and its context, nothing is
foretold but by chance.
"""
import os
import sys

READ, WRITE, ACQUIRE, RELEASE, FORK, JOIN, BEGIN, END, VOLATILE = range(1, 10)
LOAD, STORE, RMW, FENCE = range(10, 14)
NEW, MOVE = 18, 20
READS, WRITES, FORGET, FOREIGN, CARRIED, BLOCK, FRAME = range(64, 71)
EVENTS, MODULES, SYMBOLS, NAMES, LAST, SO_FAR, ORDERED, WORDS, STACKS = range(1, 10)
BYTES = {READS, WRITES, FORGET, NEW, MOVE, BLOCK, FRAME}
PLAIN = {READ, WRITE, READS, WRITES, FRAME}


def number(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def fold(v):
    return v << 1 if v >= 0 else (-v << 1) - 1


class Thread:
    """The encoder's state for one chunk."""

    def __init__(self):
        self.out, self.sites, self.count = b"", {}, 0
        self.pc = self.addr = self.ticket = self.ctx = self.since = 0
        self.first = 255
        self.calls = b""  # grows towards its beginning

    def put(self, op, addr=0, size=0, mode=0, ticket=None, n=0, source=0, ctx=0):
        key = (op, mode, size)
        if key not in self.sites:
            pc = 0x1000 + 16 * len(self.sites)
            self.out += b"\x03" + number(fold(pc - self.pc)) + bytes([op, mode]) + number(size)
            self.pc = pc
            self.sites[key] = [len(self.sites), self.addr, 0, 0, False, 0]  # number, last, step, apart, near, bytes
        site = self.sites[key]
        foretold = self.addr + site[3] if site[4] else site[1] + site[2]
        self.out += number(site[0] << 2 | 2) + number(fold(addr - foretold))
        if addr != foretold:
            site[4] = abs(addr - self.addr - site[3]) < abs(addr - site[1] - site[2])
        site[2], site[3], site[1] = addr - site[1], addr - self.addr, addr
        self.addr = addr
        if op not in PLAIN:
            self.out += number(ticket - self.ticket)
            self.ticket = ticket
            self.first = min(self.first, ticket)
        if op in BYTES:
            self.out += number(fold(n - site[5]))
            site[5] = n
        if op in (MOVE, FRAME):
            self.out += number(fold(source - addr))
        self.count += 1
        if ctx == self.ctx:
            self.since += 1
        else:
            self.calls = number(ctx)[::-1] + number(self.since)[::-1] + self.calls
            self.ctx, self.since = ctx, 0


def chunk(kind, payload, thread=0, index=0, first=255, events=0, calls=0):
    head = [kind, thread, index, first, events & 255, events >> 8, len(payload) & 255, len(payload) >> 8, calls]
    return bytes(head) + payload


def events(thread, t, kind=EVENTS):
    return chunk(kind, t.out + t.calls, thread, 0, t.first, t.count, len(t.calls))


def two_threads():
    a, b = Thread(), Thread()
    a.put(BEGIN, ticket=0)
    a.put(WRITE, 0x1000, 4, 1)
    a.put(FORK, 1, ticket=1)
    b.put(BEGIN, ticket=2)
    b.put(ACQUIRE, 0x2000, ticket=3)
    b.put(WRITE, 0x1002, 2, 1)
    b.put(RELEASE, 0x2000, ticket=4)
    b.put(END, ticket=5)
    a.put(JOIN, 1, ticket=6)
    a.put(READ, 0x1000, 8)
    return events(0, a) + events(1, b)


def memory():
    a, nobody = Thread(), Thread()
    nobody.put(NEW, 0x10000, n=4096, ticket=0)
    a.put(BEGIN, ticket=1)
    a.put(WRITES, 0x10004, 4, 1, n=60)
    a.put(FORGET, 0x10000, n=64, ticket=2)
    a.put(NEW, 0x10000, n=64, ticket=3)
    a.put(READS, 0x10000, n=21)
    a.put(MOVE, 0x20000, n=64, source=0x10000, ticket=4)
    a.put(NEW, 0, n=1 << 47, ticket=5)
    return events(255, nobody) + events(0, a)


def moves():
    """Long moves that overlap themselves, up and down, by words and by bytes, with a variable of part of a word at an end."""
    a = Thread()
    a.put(BEGIN, ticket=0)
    a.put(WRITE, 0x100001, 2, 1)
    a.put(WRITE, 0x108FF2, 1, 1)
    a.put(MOVE, 0x100008, n=0x9000, source=0x100000, ticket=1)
    a.put(MOVE, 0x100000, n=0x9000, source=0x100008, ticket=2)
    a.put(MOVE, 0x100003, n=0x8FF0, source=0x101000, ticket=3)
    a.put(MOVE, 0x40000000, n=0x3FFFFFF8, source=0x100008, ticket=4)
    a.put(MOVE, 0x80000000, n=0x3FFFFFF8, source=0x40000000, ticket=5)
    return events(0, a)


def atomics():
    a = Thread()
    a.put(BEGIN, ticket=0)
    for i, op in enumerate([LOAD, STORE, RMW, FENCE, VOLATILE, FOREIGN]):
        a.put(op, 0x3000 + 4 * i, 4 if op in (LOAD, STORE, RMW) else 0, 3, ticket=1 + i)
    return events(0, a) + events(0, a, SO_FAR)


def words():
    a = Thread()
    a.put(BEGIN, ticket=0)
    a.put(WRITE, 0x1000, 8, 1)
    a.put(READS, 0x1000, n=64)
    a.put(NEW, 0x1000, n=64, ticket=1)
    return events(0, a, WORDS)


def columns():
    """The columns of event/dht_columns.h; 32 with an operation: another thread; 64: a mode."""
    what = [(WRITE | 32, 0, 1), (ACQUIRE, 0, 2), (READ, 1, 3), (RELEASE, 0, 4), (ACQUIRE | 64, 0, 5), (READ, 0, 6)]
    out = (1).to_bytes(4, "little") * 2 + bytes([1, 2, 1]) + bytes(5)
    out += bytes(op for op, _, _ in what) + bytes(target for _, target, _ in what)
    out += b"".join(site.to_bytes(2, "little") for _, _, site in what)
    return chunk(ORDERED, out + bytes([0, 1]), events=len(what))


def tables():
    module = (0x1000).to_bytes(8, "little") + (0x9000).to_bytes(8, "little") + bytes(8) + bytes(20) + b"\x04" + bytes(3)
    module += (4).to_bytes(4, "little") + (0x100).to_bytes(4, "little") + (0x80).to_bytes(4, "little") + bytes(4) + b"/bin"
    names = b"t 0 main\nl 0 m\nv 0 x\nv 1 y\n"
    return chunk(MODULES, module) + chunk(SYMBOLS, b"1000\tmain\ta.c:1\n") + chunk(NAMES, names)


def stacks():
    """Two contexts and two threads (event/dht_stacks.h)."""
    contexts = number(2) + number(1) + number(1) + number(fold(0x1001) << 2)
    contexts += number(1) + number(1) + number(fold(1) << 2 | 1)
    threads = number(2)
    for uid in range(2):
        threads += number(uid) + number(uid) + number(uid) + number(fold(1 if uid else 7))
        threads += number(fold(0x10000)) + number(fold(0 if uid else 0x8000)) + number(fold(-0x800)) + number(0x100) + number(0x800)
        threads += b"\x04main"
    return chunk(STACKS, contexts + threads)


def called():
    """Events with contexts: locks held where the other thread accesses a block of the first."""
    a, b = Thread(), Thread()
    a.put(BEGIN, ticket=0)
    a.put(BLOCK, 0x10000, n=21, ticket=1, ctx=1)
    a.put(WRITE, 0x10004, 4, 1, ctx=2)
    a.put(FRAME, 0x17000, n=0x100, source=0x170F0, ctx=1)
    a.put(FRAME, 0x17100, n=0x100, source=0x171F0, ctx=1)
    a.put(FORK, 1, ticket=2, ctx=1)
    b.put(BEGIN, ticket=3)
    b.put(ACQUIRE, 0x2000, ticket=4, ctx=1)
    b.put(ACQUIRE, 0x2010, mode=1, ticket=5, ctx=2)
    b.put(WRITE, 0x10004, 4, 1, ctx=2)
    b.put(READ, 0x10014, 1, ctx=2)
    b.put(FOREIGN, 0x2000, ticket=6, ctx=1)
    b.put(RELEASE, 0x2010, mode=1, ticket=7, ctx=2)
    b.put(READ, 0x17000, 8, ctx=300)
    return events(0, a) + events(1, b)


def end(count):
    return chunk(LAST, b"", events=count)


seeds = {
    "two-threads": b"\x01\x00" + two_threads() + end(10),
    "no-end": b"\x01\x00" + two_threads(),
    "memory": b"\x01\x00" + memory() + end(8),
    "moves": b"\x01\x00" + moves() + end(8),
    "atomics": b"\x01\x00" + atomics() + end(7),
    "called": b"\x01\x00" + tables() + stacks() + called() + end(14),
    "words": b"\x01\x00" + words() + end(4),
    "tables": b"\x01\x00" + tables() + two_threads() + end(10),
    "named": b"\x01\x01" + tables() + columns() + end(6),
    "file": b"\x00DHTRACE\n" + bytes(40),
}
for name, data in seeds.items():
    with open(os.path.join(sys.argv[1], name), "wb") as f:
        f.write(data)
