/*
 * blocks.c - blocks begin private, and end; who owns them.
 *
 * A block that ends within a grain is tracked with that grain only if nothing else can be in it. In glibc's
 * heap that is so: behind the last byte that the program may use are 8 bytes of glibc's own, so that the
 * pointer just behind a block is also in a grain of it. Of other allocators nothing is known; there the last
 * grain is said to be open.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/sys.h"
#include "field/escape/shadow.h"

enum { PAGE = 4096, TELL_EVERY = 4096 };

bool dh_esc_blocks_closed;

static struct dh_esc_owner owners[DH_CAPER_OWNERS + 1]; /* the last counts for all that have no number */
static _Thread_local u32 mine __attribute__((tls_model("initial-exec"))); /* + 1; 0: not known yet */

/* ---- Owners ---- */

static bool is_alive(u32 tid)
{
    return dh_sys3(SYS_tgkill, dh_sys3(SYS_getpid, 0, 0, 0), tid, 0) != -ESRCH;
}

/* A thread that has ended leaves its blocks to nobody, so its number can be another's. */
static bool take(struct dh_esc_owner *o, u32 tid)
{
    u32 before = __atomic_load_n(&o->tid, __ATOMIC_RELAXED);
    if (before != 0 && (before == tid || is_alive(before)))
        return false;
    return __atomic_compare_exchange_n(&o->tid, &before, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static DH_COLD u32 find_number(void)
{
    u32 tid = (u32)dh_sys_gettid();
    for (u32 i = 0; i < DH_CAPER_OWNERS; i++)
        if (__atomic_load_n(&owners[i].tid, __ATOMIC_RELAXED) == 0 && take(&owners[i], tid))
            return i;
    for (u32 i = 0; i < DH_CAPER_OWNERS; i++)
        if (take(&owners[i], tid))
            return i;
    return DH_CAPER_OWNERS;
}

u32 dh_esc_owner_mine(void)
{
    if (DH_UNLIKELY(mine == 0))
        mine = find_number() + 1;
    return mine - 1;
}

struct dh_esc_owner *dh_esc_owner_counts(void)
{
    return &owners[mine == 0 ? DH_CAPER_OWNERS : mine - 1];
}

void dh_esc_owner_forked(void)
{
    u32 own = mine == 0 ? DH_CAPER_OWNERS : mine - 1;
    for (u32 i = 0; i <= DH_CAPER_OWNERS; i++) {
        if (i != own)
            owners[i].tid = 0;
        owners[i].tracked = owners[i].escapes = owners[i].untracked = 0;
    }
    if (own < DH_CAPER_OWNERS)
        owners[own].tid = (u32)dh_sys_gettid();
}

/* ---- Counting ---- */

static void move_count(u64 *from, u64 *to)
{
    __atomic_fetch_add(to, __atomic_exchange_n(from, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static DH_COLD void tell(struct dh_esc_owner *o)
{
    if (!dh_esc_run)
        return;
    move_count(&o->tracked, &dh_esc_run->tracked);
    move_count(&o->escapes, &dh_esc_run->escapes);
    move_count(&o->untracked, &dh_esc_run->untracked);
}

void dh_esc_owner_tell_all(void)
{
    for (u32 i = 0; i <= DH_CAPER_OWNERS; i++)
        tell(&owners[i]);
}

static void count_one(u64 *counter)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static void count_tick(struct dh_esc_owner *o)
{
    if (DH_UNLIKELY(++o->tick % TELL_EVERY == 0))
        tell(o);
}

/* ---- Blocks ---- */

/* How many grains of n bytes at p can be tracked. */
static u64 grains_of(uptr p, u64 n, bool *ret_open)
{
    if (p % DH_CAPER_GRAIN != 0 || n >= 1ull << 46)
        return 0;
    *ret_open = !dh_esc_blocks_closed;
    if (dh_esc_blocks_closed)
        return n / DH_CAPER_GRAIN + 1;
    /* A word in the open rest is scanned with the block. In another page it might not be there. */
    bool word_in_rest = n % DH_CAPER_GRAIN >= sizeof(u64);
    if (word_in_rest && DH_ALIGN_DOWN(p + n, DH_CAPER_GRAIN) % PAGE == 0)
        return 0;
    return n / DH_CAPER_GRAIN;
}

void __dh_esc_slow_new(void *p, u64 n)
{
    bool open = false;
    u64 grains = grains_of((uptr)p, n, &open), first = (uptr)p / DH_CAPER_GRAIN;
    u32 owner = dh_esc_owner_mine();
    struct dh_esc_owner *o = &owners[owner];
    count_tick(o);
    if (DH_UNLIKELY(grains == 0 || owner == DH_CAPER_OWNERS || !dh_esc_shadow_open(first, grains))) {
        count_one(&o->untracked);
        return;
    }
    count_one(&o->tracked);
    dh_esc_shadow_fill(first, grains, (u8)owner, open);
}

/* Whoever owns it: who frees a block has it. */
void __dh_esc_slow_free(void *p)
{
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    if (dh_esc_index((u64)p) != first || (uptr)p % DH_CAPER_GRAIN != 0 || dh_esc_shadow_first(first) != first)
        return;
    struct dh_esc_block b = dh_esc_shadow_block(first);
    dh_esc_shadow_clear(b.first, b.n);
}

/* ---- Blocks that move ---- */

/* Before the allocator is called the old block is one that has escaped: while it runs, the memory may already
 * be another thread's. Whether it was this thread's own, and how long, is kept. */
static bool suspend(void *p, struct dh_esc_block *ret)
{
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    if (!p || __dh_esc_mask == 0 || (uptr)p % DH_CAPER_GRAIN != 0 || dh_esc_index((u64)p) != first ||
        dh_esc_shadow_first(first) != first)
        return false;
    *ret = dh_esc_shadow_block(first);
    dh_esc_shadow_clear(ret->first, ret->n);
    return ret->owner == dh_esc_owner_mine();
}

static void *resume(void *p, void *moved, u64 n, bool private, const struct dh_esc_block *was)
{
    if (!moved && n > 0 && private)
        dh_esc_shadow_fill(was->first, was->n, was->owner, was->open); /* it failed */
    else if (moved && (private || !p) && __dh_esc_mask != 0)
        __dh_esc_slow_new(moved, n);
    return moved;
}

void *__dh_esc_realloc(void *p, u64 n)
{
    struct dh_esc_block was = {0};
    bool private = suspend(p, &was);
    return resume(p, realloc(p, n), n, private, &was);
}

void *__dh_esc_reallocarray(void *p, u64 n, u64 size)
{
    struct dh_esc_block was = {0};
    u64 bytes;
    bool overflows = __builtin_mul_overflow(n, size, &bytes);
    bool private = suspend(p, &was);
    return resume(p, reallocarray(p, n, size), overflows ? ~0ull : bytes, private, &was);
}
