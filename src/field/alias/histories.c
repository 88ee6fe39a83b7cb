/*
 * histories.c - sets of accesses to a word; each distinct set is stored once and never changed.
 *
 * A member is a site, the bytes of the word that it accessed, and the thread that did so, or DH_ALIAS_MANY if
 * several did. That is enough: whichever thread comes next differs from one of them. Members of one site have
 * no byte in common, and there is one for each thread. So a word that n sites access has at most 8 n members,
 * however many threads there are; and equal histories are equal sets.
 *
 * A set's number is its position in the arena. The lookup table only grows.
 */
#include <string.h>

#include "field/alias/alias.h"

enum {
    TABLE = 1 << 24,
    MAX_SETS = TABLE / 4 * 3,
    MAX_MEMBERS = 4096, /* of a set, to limit stack use; others are left out */
};
#define ARENA_WORDS (1ull << 29) /* 4 GB, committed on demand */

/* In the order of sites and threads: site, thread (24 bits), bytes. */
typedef u64 member;

struct set {
    u64 n;
    member at[];
};

static u64 *arena;
static u32 *table;
static u64 used = 1; /* words of the arena; atomic. 0 is the empty set's number */
static u64 n_sets;   /* atomic */

bool dh_alias_histories_init(void)
{
    arena = dh_alias_map(ARENA_WORDS * sizeof(*arena));
    table = dh_alias_map(TABLE * sizeof(*table));
    return arena && table;
}

static member make(u32 site, u32 thread, u8 bytes)
{
    return (u64)site << 32 | (u64)thread << 8 | bytes;
}

static u32 site_of(member m)
{
    return (u32)(m >> 32);
}

static u32 thread_of(member m)
{
    return (u32)m >> 8;
}

static u8 bytes_of(member m)
{
    return (u8)m;
}

/* ---- Interning ---- */

static u64 hash(const member *at, u64 n)
{
    u64 h = n;
    for (u64 i = 0; i < n; i++) {
        h = (h ^ at[i]) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    return h;
}

static u32 put(const member *at, u64 n)
{
    u64 words = 1 + n, first = __atomic_fetch_add(&used, words, __ATOMIC_RELAXED);
    if (first + words > ARENA_WORDS || __atomic_fetch_add(&n_sets, 1, __ATOMIC_RELAXED) >= MAX_SETS) {
        __atomic_store_n(&used, ARENA_WORDS, __ATOMIC_RELAXED);
        return 0;
    }
    struct set *s = (struct set *)&arena[first];
    s->n = n;
    for (u64 i = 0; i < n; i++)
        s->at[i] = at[i];
    return (u32)first;
}

static bool is_equal(u32 number, const member *at, u64 n)
{
    const struct set *s = (const struct set *)&arena[number];
    if (s->n != n)
        return false;
    for (u64 i = 0; i < n; i++)
        if (s->at[i] != at[i])
            return false;
    return true;
}

/* 0: out of memory. */
static u32 intern(const member *at, u64 n)
{
    u32 mine = 0;
    for (u64 slot = hash(at, n);; slot++) {
        u32 *place = &table[slot % TABLE], known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (known == 0) {
            mine = mine ? mine : put(at, n);
            if (mine == 0 ||
                __atomic_compare_exchange_n(place, &known, mine, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
                return mine;
        }
        if (is_equal(known, at, n))
            return known; /* our copy is wasted, which is rare */
    }
}

/* ---- Adding an access ---- */

static void tell(const struct set *s, const struct dh_alias_access *a)
{
    u8 writes = dh_alias_sites[a->site] & DH_ALIAS_WRITES;
    for (u64 i = 0; i < s->n; i++) {
        member m = s->at[i];
        if ((bytes_of(m) & a->bytes) != 0 && thread_of(m) != a->thread &&
            (writes | (dh_alias_sites[site_of(m)] & DH_ALIAS_WRITES)) != 0)
            dh_alias_pairs_tell(site_of(m), a->site);
    }
}

/* Adds bytes to the member of a site and thread, keeping members sorted. Returns their number. */
static u64 widen(member *to, u64 n, u32 site, u32 thread, u8 bytes)
{
    u64 i = n;
    if (bytes == 0)
        return n;
    while (i > 0 && to[i - 1] > make(site, thread, 0xff))
        i--;
    if (i > 0 && to[i - 1] >> 8 == make(site, thread, 0) >> 8) {
        to[i - 1] |= bytes;
        return n;
    }
    for (u64 k = n; k > i; k--)
        to[k] = to[k - 1];
    to[i] = make(site, thread, bytes);
    return n + 1;
}

static u64 with(const struct set *s, const struct dh_alias_access *a, member *to)
{
    u64 n = 0;
    u8 fresh = a->bytes, many = 0;
    for (u64 i = 0; i < s->n; i++) {
        member m = s->at[i];
        u8 both = site_of(m) == a->site ? bytes_of(m) & a->bytes : 0;
        fresh &= (u8)~both;
        if (thread_of(m) != a->thread && thread_of(m) != DH_ALIAS_MANY) {
            many |= both;
            m &= ~(u64)both;
        }
        if (bytes_of(m) != 0)
            to[n++] = m;
    }
    n = widen(to, n, a->site, a->thread, fresh);
    return widen(to, n, a->site, DH_ALIAS_MANY, many);
}

/* Whether the thread, or several, have accessed the bytes at this site before. Then the set stays as it is,
 * and nothing is to be reported: whichever of two members came last was compared with the other. */
static bool has(const struct set *s, const struct dh_alias_access *a)
{
    u64 first = 0, last = s->n;
    u8 fresh = a->bytes;
    while (first < last) {
        u64 middle = first + (last - first) / 2;
        if (site_of(s->at[middle]) < a->site)
            first = middle + 1;
        else
            last = middle;
    }
    for (u64 i = first; i < s->n && site_of(s->at[i]) == a->site; i++)
        if (thread_of(s->at[i]) == a->thread || thread_of(s->at[i]) == DH_ALIAS_MANY)
            fresh &= (u8)~bytes_of(s->at[i]);
    return fresh == 0;
}

u32 dh_alias_history_add(u32 number, const struct dh_alias_access *a)
{
    static const struct set empty;
    const struct set *s = number ? (const struct set *)&arena[number] : &empty;
    if (has(s, a))
        return number;
    tell(s, a);
    if (s->n + 2 > MAX_MEMBERS) {
        dh_alias_full();
        return number;
    }
    member to[s->n + 2];
    u32 more = intern(to, with(s, a, to));
    if (more == 0)
        dh_alias_full();
    return more ? more : number;
}

u32 dh_alias_history_without(u32 number, u8 bytes)
{
    const struct set *s = (const struct set *)&arena[number];
    u64 n = 0;
    if (number == 0)
        return 0;
    member to[s->n];
    for (u64 i = 0; i < s->n; i++)
        if (bytes_of(s->at[i]) & ~bytes)
            to[n++] = s->at[i] & ~(u64)bytes;
    u32 less = n ? intern(to, n) : 0;
    if (n && less == 0)
        dh_alias_full();
    return less;
}
