/*
 * dht_cells.h - the variables of a recorded program: its memory, cut wherever an access begins or ends.
 *
 * First all accesses are passed to dh_cells_cut, in any order; then dh_cells_at assigns numbers. Eight-byte
 * words are always separate variables.
 *
 * Memory is managed in pages of 512 bytes, smaller than the machine's: a page with one accessed word takes as
 * much as a fully accessed one, and a small recording of a program that walks memory in large steps would
 * take too much.
 */
#ifndef DH_EVENT_DHT_CELLS_H
#define DH_EVENT_DHT_CELLS_H

#include "event/pages.h"

enum {
    DH_CELLS_SHIFT = 9,
    DH_CELLS_PAGE = 1 << DH_CELLS_SHIFT,
    DH_CELLS_WORDS = DH_CELLS_PAGE / 8,
    DH_CELLS_CACHE = 2048,
    DH_CELLS_SLAB = 102, /* pages that are allocated together, just below a power of two */
};

struct dh_cells_page {
    u32 first[DH_CELLS_WORDS]; /* number of the first variable of a word, + 1; 0: not numbered yet */
    u8 cuts[DH_CELLS_WORDS];   /* bit i: a variable begins at byte i */
};

_Static_assert(sizeof(struct dh_cells_page) * DH_CELLS_SLAB <= 32 << 10, "the largest block of the pool");

/* All zero is a valid start. */
struct dh_cells {
    struct dh_pages pages;
    struct dh_cells_page **slabs; /* by number of the page, DH_CELLS_SLAB together */
    u32 slabs_cap;
    u32 n;      /* numbers assigned */
    u32 limit;  /* of numbers; 0: 2^32 - 2 */
    u64 *where; /* by number: address << 4 | size */
    u64 where_cap;
    struct {
        u64 key; /* + 1; 0: nothing */
        struct dh_cells_page *page;
    } cache[DH_CELLS_CACHE];
};

void dh_cells_done(struct dh_cells *c);
/* False: no memory. */
bool dh_cells_cut(struct dh_cells *c, u64 addr, u64 n);
/* The usual case: true if it was one, within one word of a page at hand. */
DH_INLINE bool dh_cells_cut_word(struct dh_cells *c, u64 addr, u64 n)
{
    u64 key = addr >> DH_CELLS_SHIFT;
    u32 k = key % DH_CELLS_CACHE, at = (u32)addr & 7;
    if (DH_UNLIKELY(c->cache[k].key != key + 1 || n > 8 - at))
        return false;
    c->cache[k].page->cuts[(addr & (DH_CELLS_PAGE - 1)) >> 3] |= (u8)((1u << at | 1u << (at + n)) & 0xfe);
    return true;
}
/* Cuts of [to, to + n) and [from, from + n) become the same, where there are any; to - from is a multiple
 * of 8. Returns whether anything changed, or -1: no memory. */
int dh_cells_same_cuts(struct dh_cells *c, u64 to, u64 from, u64 n);
/* The same for any distance: every byte of both by itself. */
int dh_cells_same_bytes(struct dh_cells *c, u64 to, u64 from, u64 n);
/* The distance from both addresses to the next page boundary, at most n. */
DH_INLINE u64 dh_cells_within(u64 a, u64 b, u64 n)
{
    u64 one = DH_CELLS_PAGE - (a & (DH_CELLS_PAGE - 1)), other = DH_CELLS_PAGE - (b & (DH_CELLS_PAGE - 1));
    one = one < other ? one : other;
    return one < n ? one : n;
}

/* The same downwards, for ranges that end at these addresses. */
DH_INLINE u64 dh_cells_within_below(u64 a, u64 b, u64 n)
{
    u64 one = ((a - 1) & (DH_CELLS_PAGE - 1)) + 1, other = ((b - 1) & (DH_CELLS_PAGE - 1)) + 1;
    one = one < other ? one : other;
    return one < n ? one : n;
}

/* The page with this key; NULL: there is none (or, with add, no memory). */
struct dh_cells_page *dh_cells_page(struct dh_cells *c, u64 key, bool add);
/* Numbers for a word that has none. False: no memory, or too many. */
bool dh_cells_number(struct dh_cells *c, struct dh_cells_page *page, u64 word_addr);

/* Bits set in a byte: the machines this is compiled for need not have an instruction for it. */
DH_INLINE u32 dh_cells_bits(u32 byte)
{
    const u64 of_nibble = 0x4332322132212110ull;
    return (u32)(of_nibble >> (byte & 15) * 4 & 7) + (u32)(of_nibble >> (byte >> 4) * 4 & 7);
}

/* How many variables the word at `w` of a page has. */
DH_INLINE u32 dh_cells_count(const struct dh_cells_page *p, u32 w)
{
    return 1 + dh_cells_bits(p->cuts[w] & 0xfe);
}

/* Prefetch: dh_cells_at will be called for addr. */
DH_INLINE void dh_cells_soon(const struct dh_cells *c, u64 addr)
{
    u64 key = addr >> DH_CELLS_SHIFT;
    u32 k = key % DH_CELLS_CACHE;
    if (c->cache[k].key == key + 1) {
        const struct dh_cells_page *p = c->cache[k].page;
        __builtin_prefetch(&p->first[(addr & (DH_CELLS_PAGE - 1)) >> 3]);
        __builtin_prefetch(&p->cuts[(addr & (DH_CELLS_PAGE - 1)) >> 3]);
    }
}

/* The variable that begins at addr, and its size. UINT32_MAX: no memory, or too many. */
DH_INLINE u32 dh_cells_at(struct dh_cells *c, u64 addr, u32 *ret_size)
{
    u64 key = addr >> DH_CELLS_SHIFT;
    u32 k = key % DH_CELLS_CACHE;
    struct dh_cells_page *p =
        DH_LIKELY(c->cache[k].key == key + 1) ? c->cache[k].page : dh_cells_page(c, key, true);
    if (DH_UNLIKELY(!p))
        return UINT32_MAX;
    u32 w = (u32)(addr & (DH_CELLS_PAGE - 1)) >> 3, at = (u32)addr & 7;
    if (DH_UNLIKELY(p->first[w] == 0) && !dh_cells_number(c, p, addr & ~7ull))
        return UINT32_MAX;
    u32 cuts = p->cuts[w] & 0xfe;
    *ret_size = (u32)__builtin_ctz((cuts | 0x100) >> (at + 1)) + 1;
    return p->first[w] - 1 + dh_cells_bits(cuts & ((2u << at) - 1));
}

#endif
