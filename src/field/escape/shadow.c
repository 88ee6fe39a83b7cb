/*
 * shadow.c - see shadow.h. The shadow is reserved as a whole, read-only, which no limit on promised memory
 * counts, and made writable in pieces where blocks are. What was never written reads as 0.
 */
#include "field/escape/shadow.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/sys.h"

enum {
    PAGE = 4096,
    PIECES = 1 << (47 - DH_ESC_PIECE_SHIFT),
    PIECE_GRAINS = 1 << (DH_ESC_PIECE_SHIFT - 4),
    HIGH_PIECE = 0x600000000000 >> DH_ESC_PIECE_SHIFT, /* the heap is below, what is mapped above */
    DISCARD = 1 << 20, /* so many bytes of shadow are given back to the kernel rather than written */
};

struct dh_esc_range dh_esc_ranges[DH_ESC_RANGES] = {{~0u, 0}, {~0u, 0}};

/* Atomic. Which pieces are writable. */
static u8 writable[PIECES];

/* A page more at both ends: two bytes are read at a time. */
static long reserve(uptr from, uptr to)
{
    from = DH_ALIGN_DOWN(from - 1, PAGE);
    to = DH_ALIGN_UP(to + 1, PAGE);
    long p = dh_sys6(SYS_mmap, (long)from, (long)(to - from), PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (!dh_sys_failed(p) && (uptr)p != from) {
        dh_sys3(SYS_munmap, p, (long)(to - from), 0);
        return -EEXIST;
    }
    if (!dh_sys_failed(p))
        dh_sys3(SYS_madvise, (long)from, (long)(to - from), MADV_DONTDUMP);
    return p;
}

bool dh_esc_shadow_reserve(void)
{
    return !dh_sys_failed(reserve(DH_CAPER_SHADOW, DH_CAPER_SHADOW + DH_CAPER_SHADOW_SIZE));
}

/* If something else is there, barriers read that, and the slow paths know better. */
void dh_esc_shadow_reserve_least(void)
{
    u16 probe;
    if (dh_sys_failed(reserve(DH_CAPER_SHADOW, DH_CAPER_SHADOW)) &&
        !dh_sys_peek(DH_CAPER_SHADOW - 1, &probe, sizeof(probe)))
        dh_sys_say("no memory can be had at the address where programs of 'deadheat caper' need a page");
}

void dh_esc_shadow_give_up(void)
{
    __atomic_store_n(&__dh_esc_mask, 0, __ATOMIC_RELAXED);
    dh_esc_trouble(DH_CAPER_NO_SHADOW);
}

static void widen(u32 piece)
{
    struct dh_esc_range *r = &dh_esc_ranges[piece >= HIGH_PIECE];
    u32 from = __atomic_load_n(&r->from, __ATOMIC_RELAXED), to = __atomic_load_n(&r->to, __ATOMIC_RELAXED);
    while (piece < from &&
           !__atomic_compare_exchange_n(&r->from, &from, piece, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    while (piece >= to &&
           !__atomic_compare_exchange_n(&r->to, &to, piece + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static DH_COLD bool open_piece(u32 piece)
{
    if (dh_sys3(SYS_mprotect, (long)dh_esc_shadow((u64)piece * PIECE_GRAINS), PIECE_GRAINS,
                PROT_READ | PROT_WRITE) != 0)
        return false;
    widen(piece);
    __atomic_store_n(&writable[piece], 1, __ATOMIC_RELEASE);
    return true;
}

bool dh_esc_shadow_open(u64 first, u64 n)
{
    u64 last = (first + n - 1) / PIECE_GRAINS;
    for (u64 piece = first / PIECE_GRAINS; piece <= last; piece++)
        if (DH_UNLIKELY(!__atomic_load_n(&writable[piece], __ATOMIC_ACQUIRE)) && !open_piece((u32)piece))
            return false;
    return true;
}

/* ---- Writing ---- */

typedef u64 u64_any __attribute__((aligned(1), may_alias));
typedef u32 u32_any __attribute__((aligned(1), may_alias));
typedef u16 u16_any __attribute__((aligned(1), may_alias));

/* The compiler must not join or reorder what a signal handler may see half done. */
#define PUT(type, at, value) (*(volatile type *)(at) = (type)(value))

static void set(u8 *at, u8 byte, u64 n)
{
    const u64 word = byte * 0x0101010101010101ull;
    if (n >= 4096) {
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
        return;
    }
    for (; n >= 8; n -= 8, at += 8)
        PUT(u64_any, at, word);
    for (; n > 0; n--, at++)
        PUT(u8, at, byte);
}

/* Of up to 8 grains; the last store has the first byte. */
static void fill_small(u8 *at, u64 n, u64 bytes)
{
    if (n >= 4) {
        PUT(u32_any, at + n - 4, bytes >> 8 * (n - 4));
        PUT(u32_any, at, bytes);
    } else if (n >= 2) {
        PUT(u16_any, at + n - 2, bytes >> 8 * (n - 2));
        PUT(u16_any, at, bytes);
    } else {
        PUT(u8, at, bytes);
    }
}

void dh_esc_shadow_fill(u64 first, u64 n, u8 owner, bool open)
{
    DH_ASSERT(n > 0 && owner < DH_CAPER_OWNERS);
    u8 *at = dh_esc_shadow(first);
    u64 begin = 0x0101010101010100ull | (u64)(DH_CAPER_FIRST + owner);
    if (DH_LIKELY(n <= 8)) {
        fill_small(at, n, begin | (open ? (u64)DH_CAPER_OPEN << 8 * (n - 1) : 0));
        return;
    }
    u64 from = 8;
    for (u8 code = 2; from < n; code++) {
        u64 to = code == DH_CAPER_STEPS || from * 8 > n ? n : from * 8;
        set(at + from, code, to - from);
        from = to;
    }
    if (open)
        PUT(u8, at + n - 1, at[n - 1] | DH_CAPER_OPEN);
    PUT(u64_any, at, begin);
}

void dh_esc_shadow_clear(u64 first, u64 n)
{
    u8 *at = dh_esc_shadow(first);
    if (DH_LIKELY(n <= 8)) {
        /* Forward, so that the first byte goes first. */
        if (n >= 4) {
            PUT(u32_any, at, 0);
            PUT(u32_any, at + n - 4, 0);
        } else if (n >= 2) {
            PUT(u16_any, at, 0);
            PUT(u16_any, at + n - 2, 0);
        } else {
            PUT(u8, at, 0);
        }
        return;
    }
    u8 *end = at + n;
    if (n >= DISCARD) {
        u8 *from = (u8 *)DH_ALIGN_UP((uptr)at + 1, PAGE), *to = (u8 *)DH_ALIGN_DOWN((uptr)end, PAGE);
        set(at, 0, (u64)(from - at));
        if (dh_sys_discard((uptr)from, (size_t)(to - from)))
            from = to;
        at = from;
    }
    set(at, 0, (u64)(end - at));
}

/* ---- Looking ---- */

u64 dh_esc_shadow_first(u64 grain)
{
    for (;;) {
        u32 code = *dh_esc_shadow(grain) & ~DH_CAPER_OPEN;
        if (code >= DH_CAPER_FIRST)
            return grain;
        u64 back = 1ull << 3 * (code - 1);
        if (code == 0 || back > grain)
            return DH_ESC_NONE;
        grain -= back;
    }
}

/* The grain of the first byte in 8 that belongs to no block, or to the next. */
static u32 find_end(u64 bytes)
{
    /* Bytes 1 to STEPS go on. With 7 bits each, no carry leaves a byte. */
    const u64 ones = 0x0101010101010101ull, high = ones << 7;
    u64 codes = bytes & ~high;
    u64 ends = (codes + ones * (0x80 - DH_CAPER_FIRST)) | ~(codes + ones * 0x7f);
    ends &= high;
    return ends ? (u32)__builtin_ctzll(ends) / 8 : 8;
}

struct dh_esc_block dh_esc_shadow_block(u64 first)
{
    const u8 *at = dh_esc_shadow(first);
    struct dh_esc_block b = {.first = first,
                             .n = 1,
                             .owner = (u8)((at[0] & ~DH_CAPER_OPEN) - DH_CAPER_FIRST),
                             .open = (at[0] & DH_CAPER_OPEN) != 0};
    for (u32 more = 8; more == 8 && !b.open; b.n += more) {
        u64 bytes = *(const volatile u64_any *)(at + b.n);
        more = find_end(bytes);
        u64 opens = bytes & 0x8080808080808080ull & (more == 8 ? ~0ull : (1ull << 8 * more) - 1);
        if (opens) {
            more = (u32)__builtin_ctzll(opens) / 8 + 1;
            b.open = true;
        }
    }
    return b;
}
