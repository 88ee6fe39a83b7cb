/*
 * clocks.c - FullHB: a vector clock for every thread and every object that threads synchronise through, from
 * the start of the program. It is the baseline for LiteHB, so it is simple: clocks of fixed width, slots that
 * are never reused, and one global lock.
 *
 * A thread's own entry is incremented at each of its releases. So an access made at entry k happened before
 * anything another thread does once its entry for that thread is at least k.
 */
#include <pthread.h>

#include "base/sys.h"
#include "field/track.h"

enum { THREADS = 256, OBJECTS = 8192 };

struct clock {
    u32 of[THREADS];
};

struct table {
    u64 handles[THREADS]; /* pthread_t */
    struct clock threads[THREADS];
    u64 names[OBJECTS]; /* 0: free */
    struct clock objects[OBJECTS];
};

/* Untouched pages take no memory. All protected by `busy` except `place`. */
static struct table *table;
static u32 busy, n_threads;
static u32 access_place, access_clock; /* of the tracked access */
static __thread u32 place;             /* this thread's slot in the table, from 1; 0: none yet */

bool dh_field_clocks_init(void)
{
    table = dh_sys_map(sizeof(*table));
    return table != NULL;
}

/* NULL: there are too many. */
static struct clock *own_clock(void)
{
    if (!place) {
        if (n_threads == THREADS)
            return NULL;
        place = ++n_threads;
        table->handles[place - 1] = (u64)pthread_self();
        table->threads[place - 1].of[place - 1] = 1;
    }
    return &table->threads[place - 1];
}

/* NULL: it is absent, and either is not to be added or there is no room. */
static struct clock *object_clock(u64 name, bool add)
{
    u64 at = dh_hash64(name);
    for (u32 i = 0; i < OBJECTS; i++) {
        u64 *entry = &table->names[(at + i) % OBJECTS];
        if (!*entry && add)
            *entry = name;
        if (*entry == name)
            return &table->objects[(at + i) % OBJECTS];
        if (!*entry)
            return NULL;
    }
    return NULL;
}

static void join(struct clock *into, const struct clock *from)
{
    for (u32 i = 0; i < n_threads; i++)
        if (into->of[i] < from->of[i])
            into->of[i] = from->of[i];
}

bool dh_field_clocks_release(u64 object)
{
    u64 mask = dh_field_signals_lock(&busy);
    struct clock *own = own_clock(), *its = own ? object_clock(object, true) : NULL;
    if (its) {
        join(its, own);
        own->of[place - 1]++;
    }
    dh_field_signals_unlock(&busy, mask);
    return its != NULL;
}

bool dh_field_clocks_acquire(u64 object)
{
    u64 mask = dh_field_signals_lock(&busy);
    struct clock *own = own_clock(), *its = object_clock(object, false);
    if (own && its)
        join(own, its);
    dh_field_signals_unlock(&busy, mask);
    return own != NULL;
}

/* An older thread may have had the same handle. */
bool dh_field_clocks_join(u64 thread)
{
    u64 mask = dh_field_signals_lock(&busy);
    struct clock *own = own_clock();
    for (u32 i = 0; own && i < n_threads; i++)
        if (table->handles[i] == thread)
            join(own, &table->threads[i]);
    dh_field_signals_unlock(&busy, mask);
    return own != NULL;
}

bool dh_field_clocks_begin(void)
{
    u64 mask = dh_field_signals_lock(&busy);
    const struct clock *own = own_clock();
    access_place = place;
    access_clock = own ? own->of[place - 1] : 0;
    dh_field_signals_unlock(&busy, mask);
    return own != NULL;
}

bool dh_field_clocks_is_ordered(void)
{
    u64 mask = dh_field_signals_lock(&busy);
    const struct clock *own = own_clock();
    bool ordered = !own || !access_place || own->of[access_place - 1] >= access_clock;
    dh_field_signals_unlock(&busy, mask);
    return ordered;
}
