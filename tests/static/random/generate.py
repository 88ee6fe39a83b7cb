#!/usr/bin/env python3
# generate.py SEED - a random program of locks that belong to elements and threads that are given elements.
#
# It is made of parts, each with variables and threads of its own, in a shape that the static analysis proves: an element
# with its own lock, locks beside the data, an element for each thread, loops that join. Some parts have a mistake, which
# makes them race. Marks at the ends of lines: `// SAFE` must be in no pair of `sound`, `// MISTAKE` in one.
import random
import sys

N = 6


class Part:
    """Text of one part: declarations, and statements of main that create, use and join."""

    def __init__(self, rng, number, mistake):
        self.rng, self.n, self.mistake = rng, number, mistake
        self.top, self.main = [], []

    def mark(self):
        return "// MISTAKE" if self.mistake else "// SAFE"

    def run_threads(self, thread, count=3):
        """Threads that all do the same, and a main that waits for them."""
        k = self.n
        self.main += [f"    pthread_t t{k}[{count}];",
                      f"    for (int i = 0; i < {count}; i++)",
                      f"        pthread_create(&t{k}[i], NULL, {thread}, (void *)(long)i);",
                      f"    for (int i = 0; i < {count}; i++)",
                      f"        pthread_join(t{k}[i], NULL);"]


def index(rng):
    return rng.choice(["i", "(i * 5 + 1) % N", "(int)((unsigned)i % N)", "N - 1 - i", "i ^ 0"])


def element_lock(p):
    """Elements with their own locks."""
    k, rng = p.n, p.rng
    at = index(rng)
    names = rng.choice([f"e{k}[N]", f"store{k}[N], *e{k} = store{k}"])
    p.top += [f"struct e{k} {{", "    long spare;", "    pthread_mutex_t lock;", "    int x, y;", f"}} {names};", f"int at{k};"]
    how = p.mistake and rng.choice(["other", "moved", "released", "reread", "sometimes", "pointer"])
    way = rng.choice(["direct", "pointer", "given", "both_given", "branch", "loop"])
    lock, data, unlock = f"&e{k}[{at}].lock", f"e{k}[{at}].x", f"&e{k}[{at}].lock"
    access = [f"        {data}++; {p.mark()}"]
    before, after = [f"        pthread_mutex_lock({lock});"], [f"        pthread_mutex_unlock({unlock});"]
    helpers = []
    if way == "pointer" or how == "pointer":
        before = [f"        struct e{k} *p = &e{k}[{at}], *q = p;", "        pthread_mutex_lock(&p->lock);"]
        if how == "pointer":
            before += [f"        p = &e{k}[(i + me) % N];"]
        access = [f"        p->x++; {p.mark()}"]
        after = ["        pthread_mutex_unlock(&q->lock);"]
    elif way == "given" and not how:
        helpers = [f"static void use{k}(struct e{k} *all, int i)", "{", "    pthread_mutex_lock(&all[i].lock);",
                   f"    all[i].x += all[i].y + 1; {p.mark()}", "    pthread_mutex_unlock(&all[i].lock);", "}"]
        before, after, access = [], [], [f"        use{k}(e{k}, {at});"]
    elif way == "both_given" and not how:
        helpers = [f"static void use{k}(pthread_mutex_t *lock, int *x)", "{", "    pthread_mutex_lock(lock);",
                   f"    *x += 1; {p.mark()}", "    pthread_mutex_unlock(lock);", "}"]
        before, after, access = [], [], [f"        use{k}({lock}, &{data});"]
    elif way == "branch":
        access = ["        if (i > 1)", "    " + access[0]]
    elif way == "loop":
        access = ["        for (int n = 0; n < 2; n++)", "    " + access[0]]
    if how == "other":
        before = [f"        pthread_mutex_lock(&e{k}[(i + me) % N].lock);"]
        after = [f"        pthread_mutex_unlock(&e{k}[(i + me) % N].lock);"]
        access = [f"        e{k}[i].x++; {p.mark()}"]
    elif how == "moved":
        before = ["        int was = i;", f"        pthread_mutex_lock(&e{k}[i].lock);", "        i = (i + me) % N;"]
        access = [f"        e{k}[i].x++; {p.mark()}"]
        after = ["        i = was;", f"        pthread_mutex_unlock(&e{k}[i].lock);"]
    elif how == "released":
        helpers = [f"static void leave{k}(struct e{k} *e)", "{", "    pthread_mutex_unlock(&e->lock);", "}"]
        before += [f"        leave{k}(&e{k}[{at}]);"]
        after = []
        if before[0].strip().startswith("struct"):
            before[-1] = f"        leave{k}(q);"
    elif how == "reread":
        before = [f"        __atomic_store_n(&at{k}, i, __ATOMIC_RELAXED);",
                  f"        int held = __atomic_load_n(&at{k}, __ATOMIC_RELAXED);",
                  f"        pthread_mutex_lock(&e{k}[held].lock);"]
        access = [f"        e{k}[__atomic_load_n(&at{k}, __ATOMIC_RELAXED)].x++; {p.mark()}"]
        after = [f"        pthread_mutex_unlock(&e{k}[held].lock);"]
    elif how == "sometimes":
        before = ["        if (i != 3)", f"            pthread_mutex_lock(&e{k}[i].lock);"]
        access = [f"        e{k}[i].x++; {p.mark()}"]
        after = ["        if (i != 3)", f"            pthread_mutex_unlock(&e{k}[i].lock);"]
    p.top += helpers + [f"static void *thread{k}(void *arg)", "{", "    int me = (int)(long)arg;", "    (void)me;",
                        "    for (int i = 0; i < N; i++) {"] + before + access + after + [
        "    }", "    return arg;", "}"]
    p.main += [f"    for (int i = 0; i < N; i++)", f"        pthread_mutex_init(&e{k}[i].lock, NULL);"]
    p.run_threads(f"thread{k}")


def lock_beside(p):
    """Locks in one array, data in another."""
    k, rng = p.n, p.rng
    how = p.mistake and rng.choice(["other", "next", "divided", "changed"])
    at = index(rng)
    lock, data = {"other": ("i", "(i + me) % N"), "next": ("i", "i + (me & 1)"), "divided": ("i", "i / 2"),
                  "changed": ("i", "n")}.get(how, (at, at))
    between = ["        n = (n + me + 1) % N;"] if how == "changed" else ["        (void)n;"]
    p.top += [f"pthread_mutex_t m{k}[N];", f"int x{k}[N + 1];"]
    locked, unlocked = f"pthread_mutex_lock(&m{k}[{lock}]);", f"pthread_mutex_unlock(&m{k}[{lock}]);"
    if rng.random() < 0.5:
        p.top += [f"static void take{k}(int i)", "{", f"    pthread_mutex_lock(&m{k}[i]);", "}",
                  f"static void leave{k}(int i)", "{", f"    pthread_mutex_unlock(&m{k}[i]);", "}"]
        locked, unlocked = f"take{k}({lock});", f"leave{k}({lock});"
    p.top += [f"static void *thread{k}(void *arg)", "{", "    int me = (int)(long)arg, n = me;",
              "    for (int i = 0; i < N; i++) {", "        " + locked] + between + [
        f"        x{k}[{data}]++; {p.mark()}", "        " + unlocked, "    }", "    return arg;", "}"]
    p.main += ["    for (int i = 0; i < N; i++)", f"        pthread_mutex_init(&m{k}[i], NULL);"]
    p.run_threads(f"thread{k}")


def row_lock(p):
    """A lock for each row of a table, and loops over its columns."""
    k, rng = p.n, p.rng
    how = p.mistake and rng.choice(["other", "next", "over", "exchanged", "released"])
    lock = {"other": "(i + me) % N", "next": "i + (me & 1)"}.get(how, "i")  # "next": for every other thread
    row, column = ("(me & 1 ? c : i)", "(me & 1 ? i : c)") if how == "exchanged" else ("i", "c")
    first, end = rng.choice([("0", "N"), ("0", "N / 2"), ("1", "N"), ("2", "N - 1")])
    if how:
        first, end = "0", "N + 1" if how == "over" else "N"
    p.top += [f"pthread_mutex_t m{k}[N + 1];", f"int x{k}[N + 2][N];", f"static void *thread{k}(void *arg)", "{",
              "    int me = (int)(long)arg;", "    for (int i = 0; i < N; i++) {", f"        pthread_mutex_lock(&m{k}[{lock}]);"]
    if not how and rng.random() < 0.5:
        p.top += [f"        x{k}[i][{rng.choice(['0', '3', 'N - 1'])}] += me; {p.mark()}"]
    p.top += [f"        for ({rng.choice(['int', 'long', 'unsigned'])} c = {first}; c < {end}; c++) {{"]
    if how == "released":
        p.top += [f"            pthread_mutex_unlock(&m{k}[{lock}]);", f"            x{k}[{row}][{column}]++; {p.mark()}",
                  f"            pthread_mutex_lock(&m{k}[{lock}]);"]
    else:
        p.top += [f"            x{k}[{row}][{column}]++; {p.mark()}"]
    p.top += ["        }", f"        pthread_mutex_unlock(&m{k}[{lock}]);", "    }", "    (void)me;", "    return arg;", "}"]
    p.main += ["    for (int i = 0; i <= N; i++)", f"        pthread_mutex_init(&m{k}[i], NULL);"]
    p.run_threads(f"thread{k}")


def team(p):
    """An element for each thread, and loops that join."""
    k, rng = p.n, p.rng
    bound = rng.choice(["N", f"n{k}", "count"])
    how = p.mistake and rng.choice(["twice", "next", "late", "early", "divided", "short", "way_out", "over", "changed", "swapped"])
    if how == "changed":
        bound = f"n{k}"
    by = "pointer" if how in ("twice", "next") else "shared" if how == "swapped" else \
        rng.choice(["pointer", "number", "heap", "shared"])
    bad = "// MISTAKE"
    p.top += [f"int n{k} = N;", f"struct w{k} {{", "    int id;", "    long in, out;", f"}} w{k}[N + 1];", f"pthread_t t{k}[N];"]
    if by == "heap":
        p.main += [f"    struct w{k} *a{k} = calloc(N + 1, sizeof *a{k});"]
    elif by == "shared":
        p.top += [f"struct w{k} *g{k};"]
        p.main += [f"    g{k} = calloc(N + 1, sizeof *g{k});"]
    array = {"heap": f"a{k}", "shared": f"g{k}"}.get(by, f"w{k}")
    # Which line is wrong: that of the thread, or that of main.
    mark = bad if how in ("twice", "next", "divided", "swapped") else "" if how else "// SAFE"
    worker = [f"static void *thread{k}(void *arg)", "{"]
    if by in ("number", "shared"):
        worker += ["    long id = (long)arg;"]
        e = f"{array}[id / 2]" if how == "divided" else f"{array}[id]"
        worker += [f"    {e}.out = {e}.in + id; {mark}"]
    else:
        worker += [f"    struct w{k} *w = arg;"]
        if how == "next":
            worker += ["    w[1].out += w->in;", f"    w->out++; {mark}"]
        elif how == "divided":
            worker += [f"    w[w->id % 2 ? -1 : 0].out += 1; {mark}"]
        else:
            worker += [f"    w->out += w->in + 1; {mark}"]
    worker += ["    return NULL;", "}"]
    p.top += worker
    given = "(void *)(long)i" if by in ("number", "shared") else f"&{array}[{'i % (N - 1)' if how == 'twice' else 'i'}]"
    fill = f"        {array}[i].in = i; {'// SAFE' if not how else bad if how == 'late' else ''}"
    ident = [f"        {array}[i].id = i;"] if how == "divided" else []
    create = f"        pthread_create(&t{k}[i], NULL, thread{k}, {given});"
    body = [create, fill] if how == "late" else ident + [fill, create]
    wide = [rng.choice(["int", "long"]) for _ in range(2)]  # what the loops count with
    loop = [f"    for ({wide[0]} i = 0; i < {bound}; i++) {{"] + body + ["    }"]
    p.main += loop
    if how == "over":
        p.main += ["    pthread_t first = t%d[0];" % k] + [f"    for (int i = 0; i < {bound}; i++) {{", create, "    }"]
    if how == "changed":
        p.main += [f"    n{k} = N - 2;"]
    if how == "swapped":
        p.main += [f"    g{k} = w{k};"]
    read = f"sum += {array}[i].out;"
    join = f"        pthread_join(t{k}[i], NULL);"
    inside = not how and rng.random() < 0.5
    if how == "early":
        p.main += [f"    for (int i = 0; i < {bound}; i++) {{", f"        {read} {bad}", join, "    }"]
    else:
        last = f"{bound} - 1" if how == "short" else bound
        p.main += [f"    for ({wide[1]} i = 0; i < {last}; i++) {{", join]
        if inside:
            p.main += [f"        {read} // SAFE"]
        if how == "way_out":
            p.main += ["        if (i == 2)", "            break;"]
        p.main += ["    }"]
        m = "// SAFE" if not how else bad if how in ("short", "way_out", "over", "changed") else ""
        p.main += [f"    for (int i = 0; i < N; i++)", f"        {read} {m}"]
    if how == "over":
        p.main += ["    (void)first;"]


def main():
    rng = random.Random(int(sys.argv[1]))
    top, body = [], []
    for number in range(6):
        shape = rng.choice([element_lock, lock_beside, row_lock, team, team])
        part = Part(rng, number, rng.random() < 0.4)
        shape(part)
        top += [f"/* {shape.__doc__} */"] + part.top + [""]
        body += ["    {"] + ["    " + line for line in part.main] + ["    }"]
    print("#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n\nenum { N = %d };\n" % N)
    print("\n".join(top))
    print("int main(int argc, char **argv)\n{\n    int count = argc > 1 ? atoi(argv[1]) : N;\n    long sum = 0;\n    (void)count;")
    print("\n".join(body))
    print("    return sum == -1;\n}")


main()
