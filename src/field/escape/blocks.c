/*
 * blocks.c - private blocks: their creation, their end, and their owners.
 *
 * If a block ends within a grain, that grain is tracked only if nothing else can be in it. In glibc's heap
 * that is so: the last usable byte is followed by 8 bytes of glibc's own, so that a pointer just past a block
 * is also in one of its grains. Nothing is known about other allocators; there the last grain is called open.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/sys.h"
#include "field/escape/shadow.h"

enum { PAGE = 4096, TELL_EVERY = 4096 };

bool dh_esc_blocks_closed;

static struct dh_esc_owner owners[DH_CAPER_OWNERS + 1]; /* the last counts for all threads without a number */
static _Thread_local u32 mine __attribute__((tls_model("initial-exec"))); /* + 1; 0: not known yet */

/* ---- Owners ---- */

static bool is_alive(u32 tid)
{
    return dh_sys3(SYS_tgkill, dh_sys3(SYS_getpid, 0, 0, 0), tid, 0) != -ESRCH;
}

/* Nobody inherits the blocks of a thread that has ended, so its number can be reused. */
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

/* Only this thread adds. Now and then the counts are moved to the file. */
static void count(struct dh_esc_owner *o, u64 *counter)
{
    u64 now = __atomic_load_n(counter, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(counter, now, __ATOMIC_RELAXED);
    if (DH_UNLIKELY(now >= TELL_EVERY))
        tell(o);
}

/* ---- Blocks ---- */

/* glibc's smallest block has 24 bytes. */
static u64 closed_grains(u64 n)
{
    return (n < DH_CAPER_GRAIN ? DH_CAPER_GRAIN : n) / DH_CAPER_GRAIN + 1;
}

/* How many grains of n bytes at p can be tracked. */
static u64 grains_of(uptr p, u64 n, bool *ret_open)
{
    if (p % DH_CAPER_GRAIN != 0 || n >= 1ull << 46)
        return 0;
    *ret_open = !dh_esc_blocks_closed;
    if (dh_esc_blocks_closed)
        return closed_grains(n);
    /* A word in the open rest is scanned with the block. In another page it might not be mapped. */
    bool word_in_rest = n % DH_CAPER_GRAIN >= sizeof(u64);
    if (word_in_rest && DH_ALIGN_DOWN(p + n, DH_CAPER_GRAIN) % PAGE == 0)
        return 0;
    return n / DH_CAPER_GRAIN;
}

static DH_NOINLINE void track_any(void *p, u64 n)
{
    bool open = false;
    u64 grains = grains_of((uptr)p, n, &open), first = (uptr)p / DH_CAPER_GRAIN;
    u32 owner = dh_esc_owner_mine();
    struct dh_esc_owner *o = &owners[owner];
    if (grains == 0 || owner == DH_CAPER_OWNERS || !dh_esc_shadow_open(first, grains)) {
        count(o, &o->untracked);
        return;
    }
    dh_esc_shadow_fill(first, grains, (u8)owner, open);
    count(o, &o->tracked);
}

/* In glibc's heap, of more than few grains. */
static DH_NOINLINE void track_long(u64 first, u64 n, u32 owner)
{
    const u64 grains = closed_grains(n);
    if (DH_UNLIKELY(n >= 1u << DH_ESC_PIECE_SHIFT || !dh_esc_shadow_is_open(first + grains - 1))) {
        track_any((void *)(first * DH_CAPER_GRAIN), n);
        return;
    }
    dh_esc_shadow_fill(first, grains, (u8)owner, false);
    count(&owners[owner], &owners[owner].tracked);
}

void __dh_esc_slow_new(void *p, u64 n)
{
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    u32 owner = mine - 1; /* too large if it is not known */
    if (DH_UNLIKELY((uptr)p % DH_CAPER_GRAIN != 0 || owner >= DH_CAPER_OWNERS || !dh_esc_blocks_closed ||
                    !dh_esc_shadow_is_open(first))) {
        track_any(p, n);
        return;
    }
    if (n / DH_CAPER_GRAIN >= DH_ESC_FEW) {
        track_long(first, n, owner);
        return;
    }
    u64 grains = closed_grains(n);
    dh_esc_shadow_fill_few(first, grains, DH_ESC_BEGIN_FEW(owner, grains));
    count(&owners[owner], &owners[owner].tracked);
}

static DH_NOINLINE void free_any(u64 first)
{
    dh_esc_shadow_clear(first, dh_esc_shadow_block(first).n);
}

/* Is there a block that begins at p? */
static bool begins_at(const void *p)
{
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    return (uptr)p % DH_CAPER_GRAIN == 0 && dh_esc_index((u64)p) == first &&
           (*dh_esc_shadow(first) & ~DH_CAPER_FLAGS) >= DH_CAPER_FIRST;
}

/* Whoever owns it: the thread that frees a block has it. */
void __dh_esc_slow_free(void *p)
{
    if (!begins_at(p))
        return;
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    u32 grains = dh_esc_shadow_few(dh_esc_shadow_head(first));
    if (DH_LIKELY(dh_esc_shadow_is_few(grains)))
        dh_esc_shadow_clear_few(first, grains);
    else
        free_any(first);
}

/* ---- Blocks that move ---- */

/* While the allocator runs, the memory may already be another thread's. So before it is called, the old block
 * is treated as escaped. Whether it was this thread's own until then, and its length, are kept. */
static bool suspend(void *p, struct dh_esc_block *ret)
{
    if (!p || !begins_at(p))
        return false;
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    *ret = dh_esc_shadow_block(first);
    u8 last = dh_esc_shadow_take(first);
    if (last == 0)
        return false; /* a signal handler has made it escape */
    dh_esc_shadow_clear(first, ret->n);
    ret->holds = (last & DH_CAPER_HOLDS) != 0;
    return ret->owner == dh_esc_owner_mine();
}

/* The block at p inherits what the old one had. If it is not tracked, the contents have escaped with it. */
static void take_over(void *p, u64 n, const struct dh_esc_block *was)
{
    u64 before = was->n * DH_CAPER_GRAIN, first = (uptr)p / DH_CAPER_GRAIN;
    if (was->holds && !dh_esc_shadow_hold(first, first, was->owner))
        dh_esc_publish_contents(p, n < before ? n : before);
}

/* first: of the old one; n: the bytes requested; begins: it should be private. */
static void *resume(u64 first, void *moved, u64 n, bool begins, const struct dh_esc_block *was)
{
    void *now = moved;
    if (!moved && n > 0 && begins && was->n > 0) {
        dh_esc_shadow_fill(first, was->n, was->owner, was->open); /* it failed */
        now = (void *)(first * DH_CAPER_GRAIN);
    } else if (moved && begins && __dh_esc_mask != 0) {
        __dh_esc_slow_new(moved, n);
    }
    if (now && begins)
        take_over(now, n, was);
    return moved;
}

static DH_NOINLINE void *realloc_any(void *p, u64 n)
{
    struct dh_esc_block was = {0};
    u64 first = (uptr)p / DH_CAPER_GRAIN;
    bool begins = suspend(p, &was) || !p;
    return resume(first, realloc(p, n), n, begins, &was);
}

/* Most are small, are this thread's, and hold no pointers. A signal handler may still change that until the
 * first byte is cleared. */
void *__dh_esc_realloc(void *p, u64 n)
{
    if (__dh_esc_mask == 0)
        return realloc(p, n);
    u64 first = dh_esc_index((u64)p), head = dh_esc_shadow_head(first);
    u32 grains = dh_esc_shadow_few(head);
    u8 code = (u8)head;
    if ((uptr)p % DH_CAPER_GRAIN != 0 || code != DH_CAPER_FIRST - 1 + mine || !dh_esc_shadow_is_few(grains) ||
        !dh_esc_shadow_exchange(dh_esc_shadow(first), &code, 0))
        return realloc_any(p, n);
    dh_esc_shadow_clear_few(first, grains);
    void *moved = realloc(p, n);
    if (moved)
        __dh_esc_slow_new(moved, n);
    else if (n > 0)
        dh_esc_shadow_fill_few(first, grains, head); /* it failed */
    return moved;
}

void *__dh_esc_reallocarray(void *p, u64 n, u64 size)
{
    struct dh_esc_block was = {0};
    u64 bytes, first = (uptr)p / DH_CAPER_GRAIN;
    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = ~0ull; /* which fails */
    bool begins = suspend(p, &was) || !p;
    return resume(first, reallocarray(p, n, size), bytes, begins, &was);
}
