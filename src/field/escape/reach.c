/*
 * reach.c - a block escapes, and with it everything reachable from it (Caper and RaceChaser, CC 2017, section
 * 5.2). Any word that may be a pointer into a private block of this thread is taken for one, if it is in a
 * block into which such words have been stored.
 *
 * A block's shadow is cleared before it is scanned: anything that a signal handler of this thread stores into
 * it meanwhile then escapes by itself. Pending work is kept on the stack of the call, so that handlers find
 * nothing half done. If there is too much, or it takes long, signals are blocked until all is done, and the
 * rest is kept in memory of its own. If there is none, all memory has escaped.
 */
#include <signal.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "field/escape/shadow.h"

enum {
    NEAR = 24,            /* stretches on the call's stack: handlers have small stacks */
    FAR_BYTES = 1 << 16,  /* memory for the rest, initially */
    LONG_BYTES = 1 << 16, /* scanning this much takes long */
};

struct stretch {
    uptr from, to;
};

/* Set by the plugin, and only in tests: enum dh_caper_without. */
extern DH_HIDDEN __attribute__((weak)) const u32 __dh_esc_without;

struct work {
    u32 n_near;
    bool blocked;
    bool lost;
    u32 owner;
    u32 without; /* rules that are disabled */
    u64 bytes;   /* scanned, or still to be scanned */
    u64 old_mask;
    u64 escapes;
    struct stretch *far; /* popped before `near` */
    u64 n_far, far_bytes;
    struct stretch near[NEAR];
};

static void block_signals(struct work *w)
{
    const u64 all = ~0ull;
    if (w->blocked)
        return;
    dh_sys6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&w->old_mask, sizeof(all), 0, 0);
    w->blocked = true;
}

/* Makes room for another one; false if there is no memory. */
static bool grow(struct work *w)
{
    long p;
    u64 bytes = w->far ? 2 * w->far_bytes : FAR_BYTES;
    if (w->far)
        p = dh_sys6(SYS_mremap, (long)w->far, (long)w->far_bytes, (long)bytes, MREMAP_MAYMOVE, 0, 0);
    else
        p = dh_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (dh_sys_failed(p))
        return false;
    w->far = (struct stretch *)p;
    w->far_bytes = bytes;
    return true;
}

static DH_COLD void push_far(struct work *w, struct stretch s)
{
    block_signals(w);
    if ((w->n_far + 1) * sizeof(s) > w->far_bytes && !grow(w)) {
        w->lost = true;
        return;
    }
    w->far[w->n_far++] = s;
}

static void push(struct work *w, struct stretch s)
{
    w->bytes += s.to - s.from;
    if (DH_UNLIKELY(w->bytes >= LONG_BYTES))
        block_signals(w);
    if (DH_LIKELY(w->n_near < NEAR))
        w->near[w->n_near++] = s;
    else
        push_far(w, s);
}

static bool pop(struct work *w, struct stretch *ret)
{
    if (w->n_far > 0)
        *ret = w->far[--w->n_far];
    else if (w->n_near > 0)
        *ret = w->near[--w->n_near];
    else
        return false;
    return true;
}

/* ---- One value ---- */

/* Does a disabled rule keep this value from being a pointer to the block? The lowest three bits are tags. */
static DH_COLD bool is_left_out(u32 without, u64 value, u64 first)
{
    u64 address = DH_ALIGN_DOWN(value & ((1ull << 47) - 1), sizeof(u64));
    return ((without & DH_CAPER_WITHOUT_TAGS) != 0 && address != value) ||
           ((without & DH_CAPER_WITHOUT_INTERIOR) != 0 && address != first * DH_CAPER_GRAIN);
}

static void escape_at(struct work *w, u64 grain, u64 value)
{
    u64 first = dh_esc_shadow_first(grain);
    if (first == DH_ESC_NONE || (DH_UNLIKELY(w->without != 0) && is_left_out(w->without, value, first)))
        return;
    if ((*dh_esc_shadow(first) & ~DH_CAPER_FLAGS) != DH_CAPER_FIRST + w->owner)
        return;
    struct dh_esc_block b = dh_esc_shadow_block(first);
    DH_ASSERT(grain - first < b.n);
    /* A handler may have stored a pointer into it until now; from now on such a store escapes by itself. */
    u8 last = dh_esc_shadow_take(first);
    if (last == 0)
        return; /* it has escaped in a handler */
    dh_esc_shadow_clear(first, b.n);
    w->escapes++;
    if ((last & DH_CAPER_HOLDS) == 0 || DH_UNLIKELY((w->without & DH_CAPER_WITHOUT_TRANSITIVE) != 0))
        return;
    struct stretch s = {first * DH_CAPER_GRAIN, (first + b.n) * DH_CAPER_GRAIN};
    if (b.open && s.to % 4096 != 0)
        s.to += sizeof(u64); /* of the rest */
    push(w, s);
}

static void escape_value(struct work *w, u64 value)
{
    u64 grain = dh_esc_index(value);
    /* Checked first: most words are numbers, and the shadow of what they could point to should not be faulted
     * in. */
    if (!dh_esc_is_near(value) || !dh_esc_is_candidate(value))
        return;
    if (*dh_esc_shadow(grain) != 0)
        escape_at(w, grain, value);
    if (grain > 0 && (*dh_esc_shadow(grain - 1) & DH_CAPER_OPEN) != 0)
        escape_at(w, grain - 1, value);
}

/* ---- Many words ---- */

typedef u64 words __attribute__((vector_size(16), aligned(8), may_alias));
typedef int pieces __attribute__((vector_size(16)));

struct filter {
    pieces before[DH_ESC_RANGES]; /* the piece before the range */
    pieces end[DH_ESC_RANGES];
};

static pieces spread(int x)
{
    return (pieces){x, x, x, x};
}

static struct filter make_filter(void)
{
    struct filter f;
    for (int i = 0; i < DH_ESC_RANGES; i++) {
        /* An empty range begins above everything. */
        u32 from = __atomic_load_n(&dh_esc_ranges[i].from, __ATOMIC_RELAXED);
        f.before[i] = spread(from > (u32)INT32_MAX ? INT32_MAX : (int)from - 1);
        f.end[i] = spread((int)__atomic_load_n(&dh_esc_ranges[i].to, __ATOMIC_RELAXED));
    }
    return f;
}

/* All ones in the lower half of a word that is in a range; other halves are meaningless. A pointer just past
 * a block may be in the piece after the range, so one more is accepted. */
DH_INLINE pieces is_in_range(const struct filter *f, const u64 *at)
{
    const words user = {(1ull << 47) - 1, (1ull << 47) - 1};
    pieces p = (pieces)((*(const words *)at & user) >> DH_ESC_PIECE_SHIFT);
    return ((p > f->before[0]) & (p <= f->end[0])) | ((p > f->before[1]) & (p <= f->end[1]));
}

static bool any(pieces p)
{
    words w = (words)p;
    return ((w[0] | w[1]) & 0xffffffff) != 0;
}

static void scan_words(struct work *w, struct stretch s)
{
    const u64 *at = (const u64 *)s.from, *end = (const u64 *)s.to;
    const struct filter f = make_filter();
    for (; end - at >= 8; at += 8) {
        pieces p = (is_in_range(&f, at) | is_in_range(&f, at + 2)) |
                   (is_in_range(&f, at + 4) | is_in_range(&f, at + 6));
        if (DH_LIKELY(!any(p)))
            continue;
        for (int i = 0; i < 8; i++)
            escape_value(w, at[i]);
    }
    for (; at < end; at++)
        escape_value(w, *at);
}

/* Untouched pages of a large block stay untouched. */
static void scan(struct work *w, struct stretch s)
{
    enum { PAGE = 4096, PAGES = 128 };
    u8 there[PAGES];
    while (s.to - s.from > sizeof(there) * PAGE) {
        uptr page = DH_ALIGN_DOWN(s.from, PAGE);
        bool known = dh_sys_resident(page, sizeof(there) * PAGE, there);
        for (u32 i = 0; i < PAGES; i++, page += PAGE) {
            uptr from = page < s.from ? s.from : page;
            if (!known || (there[i] & 1) != 0)
                scan_words(w, (struct stretch){from, page + PAGE});
        }
        s.from = page;
    }
    scan_words(w, s);
}

static void begin(struct work *w)
{
    w->n_near = 0;
    w->blocked = w->lost = false;
    w->owner = dh_esc_owner_mine();
    w->without = &__dh_esc_without ? __dh_esc_without : 0;
    w->bytes = w->escapes = w->n_far = w->far_bytes = 0;
    w->far = NULL;
}

static void finish(struct work *w)
{
    struct stretch s;
    while (pop(w, &s) && !w->lost)
        scan(w, s);
    if (DH_UNLIKELY(w->lost))
        dh_esc_shadow_give_up();
    u64 *counter = &dh_esc_owner_counts()->escapes;
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + w->escapes, __ATOMIC_RELAXED);
    if (w->far)
        dh_sys_unmap(w->far, w->far_bytes);
    if (w->blocked)
        dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&w->old_mask, 0, sizeof(w->old_mask), 0, 0);
}

static DH_NOINLINE void publish_any(u64 value)
{
    struct work w;
    begin(&w);
    escape_value(&w, value);
    finish(&w);
}

static DH_NOINLINE void publish_contents(u64 first, u64 n)
{
    struct work w;
    begin(&w);
    push(&w, (struct stretch){first * DH_CAPER_GRAIN, (first + n) * DH_CAPER_GRAIN});
    finish(&w);
}

/* Most blocks that escape are small, hold no pointers, and are referred to by their beginning. There must be
 * no blocks whose last grain is open: the value could also be just past one. */
static bool publish_small(u64 value)
{
    u64 first = dh_esc_index(value);
    u8 code = *(const volatile u8 *)dh_esc_shadow(first);
    if (!dh_esc_blocks_closed || &__dh_esc_without || (code & ~DH_CAPER_FLAGS) < DH_CAPER_FIRST ||
        (code & DH_CAPER_HOLDS) != 0)
        return false;
    u32 n = dh_esc_shadow_few(dh_esc_shadow_head(first));
    if (!dh_esc_shadow_is_few(n))
        return false;
    if (code == DH_CAPER_FIRST + dh_esc_owner_mine()) {
        /* As in escape_at(). */
        u8 last = dh_esc_shadow_take(first);
        if (last == 0)
            return true;
        dh_esc_shadow_clear_few(first, n);
        u64 *counter = &dh_esc_owner_counts()->escapes;
        __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        if (DH_UNLIKELY((last & DH_CAPER_HOLDS) != 0))
            publish_contents(first, n);
    }
    return true;
}

DH_ESC_PRESERVE void __dh_esc_slow_publish(u64 value)
{
    if (!publish_small(value))
        publish_any(value);
}

/* The pointer could also be just past the block before; then that one is what it leads out of. */
DH_ESC_PRESERVE void __dh_esc_slow_moved(u64 from, u64 to)
{
    u64 first = dh_esc_shadow_first(dh_esc_index(from));
    if (first == DH_ESC_NONE || dh_esc_shadow_first(dh_esc_index(to)) != first)
        __dh_esc_slow_publish(from);
}

DH_NOINLINE void dh_esc_publish_contents(const void *src, u64 n)
{
    struct work w;
    if (n == 0 || __dh_esc_mask == 0)
        return;
    begin(&w);
    scan(&w,
         (struct stretch){DH_ALIGN_DOWN((uptr)src, sizeof(u64)), DH_ALIGN_UP((uptr)src + n, sizeof(u64))});
    finish(&w);
}

/*
 * Has this memory escaped? Then so has everything in it. Memory without a shadow has, but for variables that
 * only this thread knows: locals, which are above the frame of whoever asks, and thread-local variables of
 * the program, which are below the thread pointer.
 */
DH_INLINE bool has_escaped(const void *p)
{
    const uptr thread = (uptr)__builtin_thread_pointer();
    return (uptr)p < (uptr)__builtin_frame_address(0) && thread - (uptr)p > dh_esc_own_variables &&
           !dh_esc_is_candidate((u64)p);
}

DH_ESC_PRESERVE void __dh_esc_slow_contents(const void *src, u64 n)
{
    if (!has_escaped(src))
        dh_esc_publish_contents(src, n);
}

/* ---- Into private memory ---- */

/* Is the grain of a block recorded as holding pointers? */
static bool is_held(u64 first, u64 grain)
{
    return first != DH_ESC_NONE && dh_esc_shadow_hold(first, grain, dh_esc_owner_mine());
}

/* A pointer into the block that it is stored into leads nowhere else. They are common in small blocks: empty
 * lists, short strings. In a large one the flag saves the next stores from coming here. */
static bool is_in_same_block(u64 first, u64 value)
{
    u32 n = first == DH_ESC_NONE ? 0 : dh_esc_shadow_few(dh_esc_shadow_head(first));
    return dh_esc_shadow_is_few(n) && dh_esc_index(value) - first < n;
}

DH_ESC_PRESERVE void __dh_esc_slow_store(const void *dst, u64 value)
{
    const bool aligned = (uptr)dst % sizeof(u64) == 0;
    const u64 grain = dh_esc_index((u64)dst), first = dh_esc_shadow_first(grain);
    if (!aligned || !(is_in_same_block(first, value) || is_held(first, grain)))
        __dh_esc_slow_publish(value);
}

/* Words that have escaped already need not be found in the block. */
DH_ESC_PRESERVE void __dh_esc_slow_copy(const void *dst, const void *src, u64 n)
{
    const u64 grain = dh_esc_index((u64)dst);
    if (!has_escaped(src) && !is_held(dh_esc_shadow_first(grain), grain))
        dh_esc_publish_contents(src, n);
}
