/*
 * detectors.c - how many events a second each detector takes: from memory, one core, and the STD reader
 * beside them.
 *
 * usage: bench-detectors [-n EVENTS] [-r ROUNDS] [TRACE.std]
 *
 * Without a trace it makes one: 16 threads in bursts, 64 locks nested up to two deep, 100 000 variables of
 * which half are guarded by a lock, a quarter is only read after the start and a quarter is local to a
 * thread. The best of the rounds counts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "detect/host.h"
#include "event/std.h"

enum { THREADS = 16, LOCKS = 64, CELLS = 100000, SHARED = CELLS / 2, READ_ONLY = CELLS / 4 };

struct trace {
    struct dh_event *events;
    size_t n, cap;
};

static u64 state = 201;

static u32 roll(u32 n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

static void put(struct trace *t, u8 op, u32 thread, u32 target)
{
    if (t->n < t->cap)
        t->events[t->n++] =
            (struct dh_event){.op = op, .thread = thread, .target = target, .site = target % 20000};
}

static void one_event(struct trace *t, u32 self, u32 *depth, u32 (*held)[2], bool *taken)
{
    u32 x = roll(100), local = (CELLS - SHARED - READ_ONLY) / THREADS;
    bool write = roll(10) < 4;
    if (depth[self] && x < 25) {
        u32 lock = held[self][--depth[self]];
        taken[lock] = false;
        put(t, DH_OP_RELEASE, self, lock);
    } else if (depth[self] < 2 && x < 35) {
        u32 lock = roll(LOCKS);
        if (!taken[lock]) {
            taken[lock] = true;
            held[self][depth[self]++] = lock;
            put(t, DH_OP_ACQUIRE, self, lock);
        }
    } else if (depth[self] && x < 75) {
        u32 lock = held[self][depth[self] - 1];
        put(t, write ? DH_OP_WRITE : DH_OP_READ, self, lock + LOCKS * roll(SHARED / LOCKS));
    } else if (x < 85) {
        put(t, DH_OP_READ, self, SHARED + roll(READ_ONLY));
    } else {
        put(t, write ? DH_OP_WRITE : DH_OP_READ, self, SHARED + READ_ONLY + self * local + roll(local));
    }
}

static void make(struct trace *t)
{
    static u32 depth[THREADS], held[THREADS][2];
    static bool taken[LOCKS];
    u32 self = 0;
    for (u32 i = 0; i < READ_ONLY; i++)
        put(t, DH_OP_WRITE, 0, SHARED + i);
    for (u32 i = 1; i < THREADS; i++)
        put(t, DH_OP_FORK, 0, i);
    while (t->n < t->cap) {
        if (roll(20) == 0)
            self = roll(THREADS);
        one_event(t, self, depth, held, taken);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int load(struct trace *t, const char *path)
{
    static struct dh_std s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long n = -1;
    double start = now();
    if (fd < 0 || dh_std_init(&s, fd) != 0) {
        perror(path);
        return 2;
    }
    while (t->n < t->cap && (n = dh_std_read(&s, t->events + t->n, t->cap - t->n)) > 0)
        t->n += (size_t)n;
    if (n < 0)
        fprintf(stderr, "%s:%lu: %s\n", path, (unsigned long)s.line, s.error);
    else
        printf("%-12s %8.1f million events/s\n", "STD text", (double)t->n / (now() - start) / 1e6);
    dh_std_done(&s);
    close(fd);
    return n < 0 ? 2 : 0;
}

static void measure(const struct trace *t, struct dh_event *copy, const struct dh_detector_ops *ops,
                    int rounds)
{
    struct dh_host_result r;
    double best = 0;
    for (int i = 0; i < rounds; i++) {
        struct dh_host *h = dh_host_new(NULL, NULL);
        if (!h || dh_host_add(h, ops) != 0)
            abort();
        memcpy(copy, t->events, t->n * sizeof(*copy));
        double start = now();
        if (dh_host_feed(h, copy, t->n) != 0)
            abort();
        dh_host_finish(h);
        double rate = (double)t->n / (now() - start);
        best = rate > best ? rate : best;
        dh_host_result(h, 0, &r);
        dh_host_free(h);
    }
    printf("%-12s %8.1f million events/s  %6zu MB  %lu racy variables\n", ops->name, best / 1e6,
           r.memory >> 20, (unsigned long)r.variables);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct trace t = {.cap = 10000000};
    int rounds = 3, opt;
    while ((opt = getopt(argc, argv, "n:r:")) != -1) {
        if (opt == 'n')
            t.cap = strtoull(optarg, NULL, 10);
        else if (opt == 'r')
            rounds = atoi(optarg);
        else
            return 2;
    }
    t.events = malloc(t.cap * sizeof(*t.events));
    struct dh_event *copy = malloc(t.cap * sizeof(*copy));
    if (!t.events || !copy)
        return 2;
    if (optind < argc) {
        if (load(&t, argv[optind]) != 0)
            return 2;
    } else {
        make(&t);
    }
    for (u32 i = 0; i < dh_n_detectors; i++) {
        if (!dh_detectors[i]->whole_trace)
            measure(&t, copy, dh_detectors[i], rounds);
    }
    free(copy);
    free(t.events);
    return 0;
}
