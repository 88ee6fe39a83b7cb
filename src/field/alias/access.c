/*
 * access.c - what instrumented code calls (alias.h).
 *
 * The new history of a word, and the pairs found, depend only on its old history, the thread, the site and
 * the bytes. So each thread caches the outcome, and most accesses need only that lookup. A word that another
 * thread has changed meanwhile is looked up again.
 *
 * errno is preserved: system calls bypass libc, and the libc functions that are called do not set it.
 */
#include <malloc.h>
#include <pthread.h>

#include "base/sys.h"
#include "field/alias/alias.h"

enum { MEMORY = 4096 /* entries */, MEMORIES = 1024, FIRST_LEVEL_KEYS = 32 };

/* One entry: the history and the site, the bytes and the resulting history. Read and written as a whole,
 * because a signal handler may interrupt. */
typedef u64 entry __attribute__((vector_size(16), may_alias));

struct memory {
    u32 used; /* atomic */
    u32 unused[3];
    entry at[MEMORY];
};

static _Thread_local struct memory *mine;
static _Thread_local bool without;        /* none was available */
static _Thread_local u32 number;          /* of the thread, from 1; 0: not assigned yet */
static u32 n_threads;                     /* atomic */
static struct memory *memories[MEMORIES]; /* that have been given to threads; atomic */
static pthread_key_t ending;
static bool has_key; /* written before there are threads */

/* ---- Threads ---- */

/* A thread that ends leaves its memory to another one. Its entries are valid only for its own number. */
static void leave(void *p)
{
    struct memory *m = p;
    mine = NULL;
    __atomic_store_n(&m->used, 0, __ATOMIC_RELEASE);
}

/* A key beyond the first ones would need malloc in each thread; then memory is not passed on. */
__attribute__((constructor(101))) static void make_key(void)
{
    if (*(const u8 *const volatile *)&dh_alias_sites)
        has_key = pthread_key_create(&ending, leave) == 0 && ending < FIRST_LEVEL_KEYS;
}

static struct memory *take(u32 slot)
{
    struct memory *m = __atomic_load_n(&memories[slot], __ATOMIC_ACQUIRE);
    u32 nobody = 0;
    if (!m) {
        struct memory *new = dh_alias_map(sizeof(*new)), *none = NULL;
        if (!new)
            return NULL;
        new->used = 1;
        if (__atomic_compare_exchange_n(&memories[slot], &none, new, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return new;
        dh_sys_unmap(new, sizeof(*new));
        return NULL;
    }
    if (!__atomic_compare_exchange_n(&m->used, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    for (u32 i = 0; i < MEMORY; i++)
        m->at[i] = (entry){0, 0};
    return m;
}

/* A new thread's thread-local variables may be where another's used to be. */
static void forget_variables(void)
{
    uptr end = (uptr)__builtin_thread_pointer();
    dh_alias_words_forget(DH_ALIGN_DOWN(end - dh_alias_tls_size, 8), end);
}

/* A thread that gets no memory is slower; one that gets no number is left out. */
static DH_NOINLINE void begin_thread(void)
{
    if (number == 0) {
        u32 n = 1 + __atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED), unknown = 0;
        if (n >= DH_ALIAS_MANY)
            n = DH_ALIAS_MANY;
        if (__atomic_compare_exchange_n(&number, &unknown, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            forget_variables();
    }
    for (u32 i = 0; !mine && i < MEMORIES; i++) {
        struct memory *m = take(i), *none = NULL;
        if (!m)
            continue;
        if (!__atomic_compare_exchange_n(&mine, &none, m, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            __atomic_store_n(&m->used, 0, __ATOMIC_RELEASE); /* a signal handler was faster */
        else if (has_key)
            pthread_setspecific(ending, m);
    }
    without = !mine;
}

/* ---- Words ---- */

static DH_NOINLINE u32 add_slowly(u32 set, u32 site, u8 bytes)
{
    const struct dh_alias_access a = {.thread = number, .site = site, .bytes = bytes};
    return dh_alias_history_add(set, &a);
}

static u32 add(u32 set, u32 site, u8 bytes)
{
    struct memory *m = mine;
    u64 key = (u64)set << 32 | site;
    u64 slot = ((key ^ (u64)bytes << 24) * 0x9e3779b97f4a7c15ull) >> 40;
    volatile entry *at = m ? &m->at[slot % MEMORY] : NULL;
    if (at) {
        entry known = *at;
        if (known[0] == key && known[1] >> 32 == bytes)
            return (u32)known[1];
    }
    u32 more = add_slowly(set, site, bytes);
    if (at)
        *at = (entry){key, (u64)bytes << 32 | more};
    return more;
}

static void access_word(uptr address, u32 site, u8 bytes)
{
    u32 *word = dh_alias_word(address);
    if (!word)
        return;
    u32 set = __atomic_load_n(word, __ATOMIC_ACQUIRE), more;
    do
        more = add(set, site, bytes);
    while (more != set &&
           !__atomic_compare_exchange_n(word, &set, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/* Of one word. */
static u8 bytes_between(uptr from, uptr to)
{
    return (u8)((0xffu << from % 8) & (0xffu >> (-to & 7)));
}

static void access_all(uptr p, u64 n, u32 site)
{
    uptr end = p + n < p ? ~0ull : p + n;
    while (p < end) {
        uptr next = DH_ALIGN_DOWN(p, 8) + 8, until = next < end ? next : end;
        access_word(p, site, bytes_between(p, until));
        p = until;
    }
}

/* ---- Memory that starts afresh ---- */

static void forget_bytes(uptr from, uptr to)
{
    u32 *word = dh_alias_word(from);
    u8 bytes = bytes_between(from, to);
    u32 set = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
    while (set != 0 && !__atomic_compare_exchange_n(word, &set, dh_alias_history_without(set, bytes), false,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

static void forget(uptr p, u64 n)
{
    uptr end = p + n < p ? ~0ull : p + n, first = DH_ALIGN_UP(p, 8), last = DH_ALIGN_DOWN(end, 8);
    if (p < first)
        forget_bytes(p, first < end ? first : end);
    if (last < end && last >= first)
        forget_bytes(last, end);
    dh_alias_words_forget(first, last);
}

/* ---- Entries ---- */

static bool is_watched(u32 site)
{
    if (!dh_alias_sites || site >= dh_alias_n_sites || !(dh_alias_sites[site] & DH_ALIAS_WANTED))
        return false;
    if (DH_UNLIKELY(!mine && !without))
        begin_thread();
    if (DH_LIKELY(number != DH_ALIAS_MANY))
        return true;
    dh_alias_full();
    return false;
}

void __dh_alias_access(const void *p, u64 n, u32 site)
{
    if (is_watched(site))
        access_all((uptr)p, n, site);
}

static u64 block_size(const void *p)
{
    return dh_alias_knows_heap ? malloc_usable_size((void *)p) : 1;
}

void __dh_alias_free(const void *p, u32 site)
{
    if (p && is_watched(site))
        access_all((uptr)p, block_size(p), site);
}

void __dh_alias_new(const void *p, u64 n)
{
    if (!dh_alias_sites || !p || p == (const void *)-1)
        return;
    if (n == 0)
        n = block_size(p);
    forget((uptr)p, n);
}
