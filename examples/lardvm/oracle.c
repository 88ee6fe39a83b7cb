/*
 * oracle.c - see oracle.h.
 *
 * The textbook algorithm (as "BasicVC" in the FastTrack paper, section 2.2): a clock for each thread and each
 * thing that synchronises, a clock of reads and one of writes for each variable. Slow and plain, on purpose:
 * it is what the fast detectors are judged by. Variables of dead objects are kept; objects are never
 * numbered alike, so they do no harm.
 *
 * This file is always compiled by an ordinary compiler, never by `deadheat cc`, and does not call functions
 * that deadheat intercepts (but to allocate): the judge is no part of the run-time system that is judged, and
 * its lock must not order anything for anybody.
 */
#include "oracle.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct clock {
    uint32_t n;
    uint32_t *times;
};

struct entry {
    struct oracle_key key;
    bool used;
    struct clock reads, writes; /* a thing that synchronises has only `writes`: what was released */
};

struct racy {
    uint64_t k;
    struct oracle_key key;
    uint32_t line;
    bool write;
};

struct oracle {
    atomic_flag locked;
    atomic_flag inner; /* for the tables below, when called outside of oracle_lock */
    FILE *out;
    uint64_t accesses;
    struct racy *racy; /* kept until the end: writing a file now would be a deed of the thread's */
    uint64_t n_racy, max_racy;
    struct clock *threads;
    uint32_t n_threads;
    struct entry *table; /* open addressing; the size is a power of two */
    uint64_t n, size;
};

static void *grow(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p) {
        fputs("lardvm: no memory for the oracle\n", stderr);
        exit(2);
    }
    return p;
}

static void spin(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        sched_yield();
}

static void unspin(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

void oracle_lock(struct oracle *o)
{
    spin(&o->locked);
}

void oracle_unlock(struct oracle *o)
{
    unspin(&o->locked);
}

/* ---- Clocks ---- */

static uint32_t clock_get(const struct clock *c, uint32_t thread)
{
    return thread < c->n ? c->times[thread] : 0;
}

static void clock_set(struct clock *c, uint32_t thread, uint32_t time)
{
    if (thread >= c->n) {
        c->times = grow(c->times, (thread + 1) * sizeof(*c->times));
        for (uint32_t i = c->n; i <= thread; i++)
            c->times[i] = 0;
        c->n = thread + 1;
    }
    c->times[thread] = time;
}

static void clock_join(struct clock *to, const struct clock *from)
{
    for (uint32_t i = 0; i < from->n; i++)
        if (from->times[i] > clock_get(to, i))
            clock_set(to, i, from->times[i]);
}

static bool clock_before(const struct clock *a, const struct clock *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->times[i] > clock_get(b, i))
            return false;
    return true;
}

static struct clock *clock_of(struct oracle *o, uint32_t thread)
{
    if (thread >= o->n_threads) {
        o->threads = grow(o->threads, (thread + 1) * sizeof(*o->threads));
        for (uint32_t i = o->n_threads; i <= thread; i++) {
            o->threads[i] = (struct clock){0};
            clock_set(&o->threads[i], i, 1);
        }
        o->n_threads = thread + 1;
    }
    return &o->threads[thread];
}

static void clock_tick(struct clock *c, uint32_t thread)
{
    clock_set(c, thread, clock_get(c, thread) + 1);
}

/* ---- The table ---- */

static struct entry *slot_of(struct entry *table, uint64_t size, struct oracle_key key)
{
    uint64_t h = (key.object * 0x9e3779b97f4a7c15u + key.index) * 0xff51afd7ed558ccdu;
    for (h ^= h >> 32;; h++) {
        struct entry *e = &table[h & (size - 1)];
        if (!e->used || (e->key.object == key.object && e->key.index == key.index))
            return e;
    }
}

static struct entry *entry_of(struct oracle *o, struct oracle_key key)
{
    if (o->n * 2 >= o->size) {
        uint64_t size = o->size ? o->size * 2 : 1024;
        struct entry *table = grow(NULL, size * sizeof(*table));
        for (uint64_t i = 0; i < size; i++)
            table[i].used = false;
        for (uint64_t i = 0; i < o->size; i++)
            if (o->table[i].used)
                *slot_of(table, size, o->table[i].key) = o->table[i];
        free(o->table);
        o->table = table;
        o->size = size;
    }
    struct entry *e = slot_of(o->table, o->size, key);
    if (!e->used) {
        *e = (struct entry){.key = key, .used = true};
        o->n++;
    }
    return e;
}

/* ---- Events ---- */

void oracle_access(struct oracle *o, uint32_t thread, struct oracle_key key, bool write, uint64_t k,
                   uint32_t line)
{
    spin(&o->inner);
    struct entry *e = entry_of(o, key);
    struct clock *c = clock_of(o, thread);
    bool racy = !clock_before(&e->writes, c) || (write && !clock_before(&e->reads, c));
    clock_set(write ? &e->writes : &e->reads, thread, clock_get(c, thread));
    o->accesses++;
    if (racy) {
        if (o->n_racy == o->max_racy) {
            o->max_racy = o->max_racy ? o->max_racy * 2 : 64;
            o->racy = grow(o->racy, o->max_racy * sizeof(*o->racy));
        }
        o->racy[o->n_racy++] = (struct racy){k, key, line, write};
    }
    unspin(&o->inner);
}

void oracle_acquire(struct oracle *o, uint32_t thread, struct oracle_key key)
{
    spin(&o->inner);
    clock_join(clock_of(o, thread), &entry_of(o, key)->writes);
    unspin(&o->inner);
}

void oracle_release(struct oracle *o, uint32_t thread, struct oracle_key key)
{
    spin(&o->inner);
    clock_join(&entry_of(o, key)->writes, clock_of(o, thread));
    clock_tick(clock_of(o, thread), thread);
    unspin(&o->inner);
}

void oracle_fork(struct oracle *o, uint32_t parent, uint32_t child)
{
    spin(&o->inner);
    clock_of(o, parent > child ? parent : child); /* both exist from here on and stay where they are */
    clock_join(clock_of(o, child), clock_of(o, parent));
    clock_tick(clock_of(o, parent), parent);
    unspin(&o->inner);
}

void oracle_join(struct oracle *o, uint32_t thread, uint32_t ended)
{
    spin(&o->inner);
    clock_join(clock_of(o, thread), clock_of(o, ended));
    unspin(&o->inner);
}

/* ---- Begin and end ---- */

struct oracle *oracle_new(const char *path)
{
    struct oracle *o = grow(NULL, sizeof(*o));
    *o = (struct oracle){.locked = ATOMIC_FLAG_INIT, .inner = ATOMIC_FLAG_INIT};
    o->out = fopen(path, "w");
    if (!o->out) {
        free(o);
        return NULL;
    }
    return o;
}

bool oracle_free(struct oracle *o)
{
    if (!o)
        return true;
    for (uint64_t i = 0; i < o->n_racy; i++) {
        const struct racy *r = &o->racy[i];
        fprintf(o->out, "%llu\t%u\t%llu\t%u\t%c\n", (unsigned long long)r->k, r->line,
                (unsigned long long)r->key.object, r->key.index, r->write ? 'w' : 'r');
    }
    fprintf(o->out, "end\t%llu\t%llu\n", (unsigned long long)o->accesses, (unsigned long long)o->n_racy);
    bool ok = !ferror(o->out);
    ok = fclose(o->out) == 0 && ok;
    for (uint32_t i = 0; i < o->n_threads; i++)
        free(o->threads[i].times);
    for (uint64_t i = 0; i < o->size; i++) {
        if (o->table[i].used) {
            free(o->table[i].reads.times);
            free(o->table[i].writes.times);
        }
    }
    free(o->threads);
    free(o->racy);
    free(o->table);
    free(o);
    return ok;
}
