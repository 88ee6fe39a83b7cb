"""seeds_pairs.py DIRECTORY - writes the corpus of fuzz_pairs: bodies of tables of pairs (report/pairs_code.h)."""
import os
import sys


def number(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


class Table:
    """The parts in the order of the body; strings and lists are collected while the rest is written."""

    def __init__(self):
        self.strings, self.lists = [""], [()]
        self.rest = b""

    def add(self, *values):
        for v in values:
            if isinstance(v, str):
                v = self.index(self.strings, v)
            elif isinstance(v, tuple):
                v = self.index(self.lists, v)
            self.rest += number(v)

    @staticmethod
    def index(known, v):
        if v not in known:
            known.append(v)
        return known.index(v)

    def bytes(self):
        out = number(len(self.strings) - 1)
        for s in self.strings[1:]:
            out += number(len(s)) + s.encode()
        out += number(len(self.lists) - 1)
        for items in self.lists[1:]:
            out += number(len(items)) + b"".join(number(i) for i in items)
        return out + self.rest


def full():
    t = Table()
    t.add("prog", "deadheat", "", 0)
    t.add(2)  # sites
    t.add("a.c", "f", "", "a.c", "/x", 10, 5, 1, 4, 0, 0xDEADBEEF12345678)
    t.add("a.c", "main", "g", "a.h", "/x", 300, 2, 0, 8, 1, 0)
    t.add(2)  # variables
    t.add(0, "stats", ".hits", "struct stats", "", "a.c", "/x", 3, 1)
    t.add(2, "malloc", "[].next", "struct node", "new_node", "a.c", "/x", 30, 9)
    t.add(1, 1, "lock", "a.c", "/x", 4, 1)
    t.add(2)  # entries
    t.add(0, "main", "", "", "", "", 0, 0)
    t.add(3, "f", "main", "pthread_create", "a.c", "/x", 40, 7)
    t.add(2)  # pairs
    t.add(0, 1, (0, 1), (1,), (), (), (0,), (0, 1), (0, 1), 3, 5, "a note")
    t.add(1, 0, (), (0,), (), (), (0,), (), (1,), 2, 0, "")
    t.index(t.strings, "a.c:7")
    t.add(1, "inline-asm", "it touches nothing shared", 1 << 40, (t.strings.index("a.c:7"),))
    t.add(1, "points-to", 1500000, 4096)
    t.add(1, "instructions", 1 << 63)
    return t.bytes()


def no_threads():
    t = Table()
    t.add("prog", "deadheat", "", 1, 0, 0, 0, 0, 0, 0, 0, 0)
    return t.bytes()


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, body in {"full": full(), "no-threads": no_threads(), "empty": bytes(13)}.items():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(body)


main()
