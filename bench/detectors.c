/*
 * detectors.c - how many events a second each detector takes from a trace in a file, reading and decoding
 * included, on one core. bench/traces runs it and makes the tables.
 *
 *   bench-detectors make EVENTS FILE        a trace as STD text
 *   bench-detectors crowd EVENTS FILE       another one
 *   bench-detectors run [-r ROUNDS] [-d NAME,...] TRACE    a line for each round and detector:
 *       name, events, seconds, bytes of the detector at half of the trace, at its end, racy variables
 *
 * The trace has 16 threads in bursts, 64 locks nested up to two deep, 100 000 variables: half of them are
 * guarded by a lock, a quarter is only read after the start, a quarter is local to a thread. One event in
 * six is a lock's, and addresses follow no pattern: real programs are kinder to caches and to the format.
 * The crowd is 113 threads in short bursts, with 5000 locks nested up to three deep and as many variables.
 * All access any of them, under whatever locks they hold: next to nothing is guarded, and most accesses race.
 * In a round every detector has its turn, so that whatever else the machine does falls on all alike. Seconds
 * are processor time, from the opening of the file to the last event.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "detect/host.h"
#include "event/dht_read.h"
#include "event/std.h"

/* ---- A trace ---- */

enum { THREADS = 16, LOCKS = 64, CELLS = 100000, SHARED = CELLS / 2, READ_ONLY = CELLS / 4 };
enum { CROWD = 113, CROWD_LOCKS = 5000, CROWD_DEPTH = 3 };

struct maker {
    FILE *out;
    u64 left; /* events */
    u32 depth[CROWD];
    u32 held[CROWD][CROWD_DEPTH];
    bool taken[CROWD_LOCKS];
};

static u32 roll(u32 n)
{
    static u64 state = 201;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state >> 33) % n);
}

static void put(struct maker *m, u32 thread, const char *op, char kind, u32 target)
{
    if (m->left) {
        fprintf(m->out, "T%u|%s(%c%u)|%u\n", thread, op, kind, target, target % 20000);
        m->left--;
    }
}

static void one_event(struct maker *m, u32 self)
{
    u32 x = roll(100), local = (CELLS - SHARED - READ_ONLY) / THREADS;
    const char *op = roll(10) < 4 ? "w" : "r";
    u32 *depth = &m->depth[self];
    if (*depth && x < 25) {
        u32 lock = m->held[self][--*depth];
        m->taken[lock] = false;
        put(m, self, "rel", 'L', lock);
    } else if (*depth < 2 && x >= 25 && x < 35) {
        u32 lock = roll(LOCKS);
        if (!m->taken[lock]) {
            m->taken[lock] = true;
            m->held[self][(*depth)++] = lock;
            put(m, self, "acq", 'L', lock);
        }
    } else if (*depth && x < 75) {
        put(m, self, op, 'V', m->held[self][*depth - 1] + LOCKS * roll(SHARED / LOCKS));
    } else if (x < 85) {
        put(m, self, "r", 'V', SHARED + roll(READ_ONLY));
    } else {
        put(m, self, op, 'V', SHARED + READ_ONLY + self * local + roll(local));
    }
}

static void make_bursts(struct maker *m)
{
    u32 self = 0;
    for (u32 i = 0; i < READ_ONLY; i++)
        put(m, 0, "w", 'V', SHARED + i);
    for (u32 i = 1; i < THREADS; i++)
        put(m, 0, "fork", 'T', i);
    while (m->left) {
        if (roll(20) == 0)
            self = roll(THREADS);
        one_event(m, self);
    }
}

static void make_crowd(struct maker *m)
{
    u32 self = 0;
    for (u32 i = 1; i < CROWD; i++)
        put(m, 0, "fork", 'T', i);
    while (m->left) {
        u32 what = roll(100), lock = roll(CROWD_LOCKS);
        self = roll(8) ? self : roll(CROWD);
        if (what < 22 && m->depth[self]) {
            lock = m->held[self][--m->depth[self]];
            m->taken[lock] = false;
            put(m, self, "rel", 'L', lock);
        } else if (what >= 85 && m->depth[self] < CROWD_DEPTH && !m->taken[lock]) {
            m->taken[lock] = true;
            m->held[self][m->depth[self]++] = lock;
            put(m, self, "acq", 'L', lock);
        } else {
            put(m, self, roll(10) < 4 ? "w" : "r", 'V', roll(CELLS));
        }
    }
}

static int make(void (*content)(struct maker *), const char *events, const char *path)
{
    static struct maker m;
    m = (struct maker){.out = fopen(path, "w"), .left = strtoull(events, NULL, 10)};
    if (!m.out) {
        perror(path);
        return 2;
    }
    content(&m);
    if (fclose(m.out) != 0) {
        perror(path);
        return 2;
    }
    return 0;
}

/* ---- Reading ---- */

struct source {
    int fd;
    struct dh_dht *dht; /* NULL: STD text */
    struct dh_std std;
};

static struct source source; /* large */

static bool open_trace(const char *path)
{
    char begin[8];
    source.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0)
        return false;
    if (pread(source.fd, begin, sizeof(begin), 0) == sizeof(begin) && dh_dht_is(begin, sizeof(begin)))
        return dh_dht_open(&source.dht, source.fd) == 0;
    return dh_std_init(&source.std, source.fd) == 0;
}

static long read_trace(struct dh_event *events, size_t cap)
{
    return source.dht ? dh_dht_read(source.dht, events, cap) : dh_std_read(&source.std, events, cap);
}

static void close_trace(void)
{
    if (source.dht)
        dh_dht_close(source.dht);
    else
        dh_std_done(&source.std);
    source.dht = NULL;
    close(source.fd);
}

/* ---- Measuring ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* `half`: events after which the memory is looked at; 0: not known yet. How many events, or -1. */
static long measure(const char *path, const struct dh_detector_ops *ops, u64 half)
{
    static struct dh_event batch[4096];
    struct dh_host_result at_half = {0}, at_end;
    struct dh_host *h = dh_host_new(NULL, NULL);
    u64 events = 0;
    long n = -1;
    double start = now();
    if (!h || dh_host_add(h, ops) != 0 || !open_trace(path))
        return -1;
    while ((n = read_trace(batch, DH_ARRAY_LEN(batch))) > 0 && dh_host_feed(h, batch, (size_t)n) == 0) {
        if (events < half && events + (u64)n >= half)
            dh_host_result(h, 0, &at_half);
        events += (u64)n;
    }
    dh_host_finish(h);
    double spent = now() - start;
    close_trace();
    dh_host_result(h, 0, &at_end);
    dh_host_free(h);
    if (n != 0 || at_end.error)
        return -1;
    if (half) {
        printf("%s\t%lu\t%.6f\t%zu\t%zu\t%lu\n", ops->name, (unsigned long)events, spent, at_half.memory,
               at_end.memory, (unsigned long)at_end.variables);
        fflush(stdout);
    }
    return (long)events;
}

static bool wanted(const char *list, const struct dh_detector_ops *ops)
{
    size_t len = strlen(ops->name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, ops->name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    return !list && !ops->whole_trace;
}

static int run(const char *path, int rounds, const char *list)
{
    long events = measure(path, dh_detectors[0], 0); /* warms up, too */
    for (int i = 0; i < rounds && events > 0; i++) {
        for (u32 k = 0; k < dh_n_detectors && events > 0; k++)
            if (wanted(list, dh_detectors[k]))
                events = measure(path, dh_detectors[k], (u64)events / 2);
    }
    if (events <= 0)
        fprintf(stderr, "bench-detectors: %s: no trace, or not a good one\n", path);
    return events > 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
    const char *list = NULL;
    int rounds = 3, opt;
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(make_bursts, argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "crowd") == 0)
        return make(make_crowd, argv[2], argv[3]);
    for (optind = 2; (opt = getopt(argc, argv, "r:d:")) != -1;) {
        if (opt == 'r')
            rounds = atoi(optarg);
        else if (opt == 'd')
            list = optarg;
        else
            return 2;
    }
    if (argc < 3 || strcmp(argv[1], "run") != 0 || optind != argc - 1) {
        fputs("usage: bench-detectors make|crowd EVENTS FILE | run [-r ROUNDS] [-d NAME,...] TRACE\n",
              stderr);
        return 2;
    }
    return run(argv[optind], rounds, list);
}
