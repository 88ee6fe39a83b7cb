/*
 * track.c - see track.h. LiteHB needs no clocks: for one access, it is enough to know the threads and the
 * objects that are ordered after it. Both sets only grow while the access is tracked, so they need no lock,
 * and a signal handler may interrupt at any time.
 *
 * Windows have numbers. Entries with the number of another window are not in the set, so nothing has to be
 * cleared. There are 2^17 numbers; an entry old enough to be mistaken for a current one would make threads
 * look ordered, which invents no race.
 */
#include "field/track.h"

#include <linux/membarrier.h>
#include <pthread.h>

#include "base/sys.h"

enum { OBJECTS = 8192, PROBES = 64, ADDRESS_BITS = 47 };

/* window << ADDRESS_BITS | address of an object that is ordered after the access. */
static u64 objects[OBJECTS];
/* This thread is ordered after the access of that window. */
static __thread u32 member;
/* The atomic object that this thread is accessing, out of line; 0: none. */
static __thread u64 accessing;

const char dh_field_files;

/* NULL: a forked copy, which shares the control block and must not act for the original. */
static struct dh_control *control(void)
{
    return dh_field_is_original() ? __atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE) : NULL;
}

static u32 window_of(const struct dh_control *c)
{
    return __atomic_load_n(&c->tracking, __ATOMIC_ACQUIRE);
}

static void lose(struct dh_control *c)
{
    __atomic_store_n(&c->lost, 1, __ATOMIC_RELEASE);
}

void dh_field_track_lose(void)
{
    struct dh_control *c = control();
    if (c)
        lose(c);
}

void dh_field_track_give_up(void)
{
    struct dh_control *c = control();
    if (c && (c->full || member == window_of(c)))
        lose(c);
}

static void overflow(struct dh_control *c)
{
    __atomic_store_n(&c->overflow, 1, __ATOMIC_RELEASE);
    lose(c);
}

/* ---- The objects ---- */

static u64 key_of(u32 window, u64 address)
{
    return (u64)window << ADDRESS_BITS | (address & ((1ull << ADDRESS_BITS) - 1));
}

/* Within a window entries are only added, so the first one from another window ends the search. */
static bool contains(u64 key)
{
    u64 at = dh_hash64(key);
    for (u32 i = 0; i < PROBES; i++) {
        u64 seen = __atomic_load_n(&objects[(at + i) % OBJECTS], __ATOMIC_ACQUIRE);
        if (seen == key)
            return true;
        if (seen >> ADDRESS_BITS != key >> ADDRESS_BITS)
            return false;
    }
    return false;
}

/* False: there is no room. */
static bool insert(u64 key)
{
    u64 at = dh_hash64(key);
    for (u32 i = 0; i < PROBES; i++) {
        u64 *entry = &objects[(at + i) % OBJECTS], seen = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
        while (seen >> ADDRESS_BITS != key >> ADDRESS_BITS)
            if (__atomic_compare_exchange_n(entry, &seen, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return true;
        if (seen == key)
            return true;
    }
    return false;
}

/* ---- The threads ---- */

/* A thread is an object, too: one that joins it will find it, whenever it became a member. */
static void become_member(struct dh_control *c, u32 window)
{
    u32 i = __atomic_fetch_add(&c->n_members, 1, __ATOMIC_RELAXED);
    if (i < DH_CONTROL_MEMBERS)
        __atomic_store_n(&c->members[i], (u32)dh_sys_gettid(), __ATOMIC_RELEASE);
    member = window;
    if (!insert(key_of(window, (u64)pthread_self())))
        lose(c);
}

void dh_field_track_release(const volatile void *object)
{
    struct dh_control *c = control();
    u32 window = c ? window_of(c) : 0;
    if (c && c->full && !dh_field_clocks_release((u64)(uptr)object))
        overflow(c);
    else if (c && !c->full && window && member == window && !insert(key_of(window, (u64)(uptr)object)))
        lose(c);
}

static void acquire(struct dh_control *c, u64 object)
{
    u32 window = window_of(c);
    if (c->full && !dh_field_clocks_acquire(object))
        overflow(c);
    else if (!c->full && window && member != window && contains(key_of(window, object)))
        become_member(c, window);
}

void dh_field_track_acquire(const volatile void *object)
{
    struct dh_control *c = control();
    if (c)
        acquire(c, (u64)(uptr)object);
}

void dh_field_track_join(pthread_t thread)
{
    struct dh_control *c = control();
    if (c && c->full && !dh_field_clocks_join((u64)thread))
        overflow(c);
    else if (c && !c->full)
        acquire(c, (u64)thread);
}

/* ---- The access ---- */

static bool overlaps(const struct dh_control_span *span, u64 p, u64 n)
{
    return span->address < p + n && p < span->address + span->size;
}

void dh_field_track_forget(const volatile void *p, size_t n)
{
    struct dh_control *c = control();
    for (u32 i = 0; c && i < c->first.n_spans && i < DH_CONTROL_OPERANDS; i++)
        if (overlaps(&c->first.spans[i], (u64)(uptr)p, n))
            lose(c);
}

/* May the process use the following? */
static bool registered;

/* Done here, while there is one thread: later the kernel would take tens of milliseconds for it. */
void dh_field_track_init(void)
{
    registered = dh_sys3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

/* From now on no processor executes code from before the breakpoints were set. */
static bool synchronise_code(void)
{
    return registered && dh_sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

void dh_field_track_begin(struct dh_control *c)
{
    u32 window = window_of(c);
    if (!synchronise_code())
        lose(c);
    if (!c->full)
        become_member(c, window);
    else if (!dh_field_clocks_begin())
        overflow(c);
}

bool dh_field_track_is_ordered(struct dh_control *c)
{
    if (__atomic_load_n(&c->lost, __ATOMIC_ACQUIRE))
        return true;
    return c->full ? dh_field_clocks_is_ordered() : member == window_of(c);
}

/* ---- Atomic objects ---- */

/* A signal handler of the program may interrupt between the two, and access an atomic itself: then it is not
 * known which object the interrupted access was to. An object is as much as can be accessed at once, since
 * accesses of different sizes may overlap there. */
void dh_field_track_atomic(u8 order, u64 address)
{
    address = DH_ALIGN_DOWN(address, 8);
    if (order & DH_CONTROL_RELEASE)
        dh_field_track_release((const volatile void *)(uptr)address);
    if (!(order & DH_CONTROL_ACQUIRE))
        return;
    if (accessing)
        dh_field_track_lose();
    accessing = address;
}

void dh_field_track_made(void)
{
    u64 address = accessing;
    accessing = 0;
    if (address)
        dh_field_track_acquire((const volatile void *)(uptr)address);
    else
        dh_field_track_lose();
}
