/*
 * shadow.c - see shadow.h. The shadow is reserved as a whole, read-only, which does not count as committed
 * memory, and made writable in pieces where there are blocks. Parts never written read as 0.
 */
#include "field/escape/shadow.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/sys.h"

enum {
    PAGE = 4096,
    PIECE_GRAINS = 1 << (DH_ESC_PIECE_SHIFT - 4),
    HIGH_PIECE = 0x600000000000 >> DH_ESC_PIECE_SHIFT, /* the heap is below, mappings are above */
    DISCARD = 1 << 20, /* this many bytes of shadow are discarded rather than written */
};

struct dh_esc_range dh_esc_ranges[DH_ESC_RANGES] = {{~0u, 0}, {~0u, 0}};

u8 dh_esc_shadow_pieces[DH_ESC_PIECES];
static bool reserved; /* all of it; written before there are threads */

/* An extra page at both ends: two bytes are read at a time. */
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
    reserved = !dh_sys_failed(reserve(DH_CAPER_SHADOW, DH_CAPER_SHADOW + DH_CAPER_SHADOW_SIZE));
    return reserved;
}

/* If something else is mapped there, barriers read that, and the slow paths sort it out. */
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

void __dh_esc_give_up(void)
{
    __atomic_store_n(&__dh_esc_mask, 0, __ATOMIC_RELAXED);
    dh_esc_trouble(DH_CAPER_COROUTINES);
}

/* Replaces libc's: making all pages of the shadow resident would take more memory than there is. So pages are
 * locked as they are faulted in, and the shadow is not locked. */
DH_EXPORT __attribute__((weak)) int mlockall(int flags)
{
    long r = dh_sys3(SYS_mlockall, reserved ? flags | MCL_ONFAULT : flags, 0, 0);
    if (r != 0) {
        errno = (int)-r;
        return -1;
    }
    if (reserved)
        dh_sys3(SYS_munlock, DH_CAPER_SHADOW, DH_CAPER_SHADOW_SIZE, 0);
    return 0;
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
    if (dh_sys3(SYS_mprotect, (long)dh_esc_shadow((u64)piece * PIECE_GRAINS), PIECE_GRAINS + PAGE,
                PROT_READ | PROT_WRITE) != 0)
        return false;
    u8 far = DH_ESC_FAR;
    widen(piece);
    if (piece + 1 < DH_ESC_PIECES)
        __atomic_compare_exchange_n(&dh_esc_shadow_pieces[piece + 1], &far, DH_ESC_NEAR, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_store_n(&dh_esc_shadow_pieces[piece], DH_ESC_OPEN, __ATOMIC_RELEASE);
    return true;
}

bool dh_esc_shadow_open(u64 first, u64 n)
{
    u64 last = (first + n - 1) / PIECE_GRAINS;
    for (u64 piece = first / PIECE_GRAINS; piece <= last; piece++)
        if (DH_UNLIKELY(__atomic_load_n(&dh_esc_shadow_pieces[piece], __ATOMIC_ACQUIRE) != DH_ESC_OPEN) &&
            !open_piece((u32)piece))
            return false;
    return true;
}

/* ---- Writing ---- */

/* Sixteen at once. */
typedef u8 bytes16 __attribute__((vector_size(16), aligned(1), may_alias));

static bytes16 spread(u8 byte)
{
    return (bytes16){byte, byte, byte, byte, byte, byte, byte, byte,
                     byte, byte, byte, byte, byte, byte, byte, byte};
}

static void set(u8 *at, u8 byte, u64 n)
{
    const bytes16 many = spread(byte);
    const dh_esc_u64 eight = byte * 0x0101010101010101ull;
    u8 *end = at + n;
    if (n >= 4096) {
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
    } else if (n >= sizeof(many)) {
        for (; end - at > 4 * (long)sizeof(many); at += 4 * sizeof(many)) {
            DH_ESC_PUT(bytes16, at, many);
            DH_ESC_PUT(bytes16, at + sizeof(many), many);
            DH_ESC_PUT(bytes16, at + 2 * sizeof(many), many);
            DH_ESC_PUT(bytes16, at + 3 * sizeof(many), many);
        }
        for (; end - at > (long)sizeof(many); at += sizeof(many))
            DH_ESC_PUT(bytes16, at, many);
        DH_ESC_PUT(bytes16, end - sizeof(many), many);
    } else if (n >= sizeof(eight)) {
        DH_ESC_PUT(dh_esc_u64, at, eight);
        DH_ESC_PUT(dh_esc_u64, end - sizeof(eight), eight);
    } else {
        for (; at < end; at++)
            DH_ESC_PUT(u8, at, byte);
    }
}

/* Lengths of more than a few grains are below this, which is six digits of three bits, or 0. */
enum { LONGEST = 01000000 };

/* Two digits at a time. */
static u64 digits_of(u64 n)
{
    u64 twos = (n & 077) << 16 | (n & 07700) << 26 | (n & 0770000) << 36;
    return n >= LONGEST ? 0 : (twos & 0x0007000700070000) | (twos << 5 & 0x0700070007000000);
}

static u64 number_of(u64 head)
{
    u64 digits = (head & 0x3f3f3f3f3f3f0000) - DH_CAPER_NEAR * 0x0101010101010000ull;
    u64 twos = digits | digits >> 5;
    return (twos >> 16 & 077) | (twos >> 26 & 07700) | (twos >> 36 & 0770000);
}

void dh_esc_shadow_fill(u64 first, u64 n, u8 owner, bool open)
{
    DH_ASSERT(n > 0 && owner < DH_CAPER_OWNERS);
    if (n <= DH_ESC_FEW) {
        dh_esc_shadow_fill_few(first, n,
                               DH_ESC_BEGIN_FEW(owner, n) | (open ? (u64)DH_CAPER_OPEN << 8 * (n - 1) : 0));
        return;
    }
    u8 *at = dh_esc_shadow(first);
    u64 from = 8;
    for (u8 code = DH_CAPER_FAR; from < n; code++) {
        u64 to = code == DH_CAPER_FIRST - 1 || from * 8 > n ? n : from * 8;
        set(at + from, code, to - from);
        from = to;
    }
    if (open)
        DH_ESC_PUT(u8, at + n - 1, at[n - 1] | DH_CAPER_OPEN);
    DH_ESC_PUT(dh_esc_u64, at, DH_ESC_BEGIN(owner) + digits_of(n));
}

void dh_esc_shadow_clear(u64 first, u64 n)
{
    if (n >= 2 && n <= DH_ESC_FEW) {
        dh_esc_shadow_clear_few(first, n);
        return;
    }
    u8 *at = dh_esc_shadow(first), *end = at + n;
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
        u32 code = *dh_esc_shadow(grain) & ~DH_CAPER_FLAGS;
        if (code >= DH_CAPER_FIRST)
            return grain;
        u64 back = code < DH_CAPER_FAR ? 1 : 8ull << 3 * (code - DH_CAPER_FAR);
        if (code == 0 || back > grain)
            return DH_ESC_NONE;
        grain -= back;
    }
}

/* How many grains from here on have the code, whatever their flags. They belong to one block: the next begins
 * with another code. */
static u64 count_same(const u8 *at, u8 code)
{
    const bytes16 many = spread(code), codes = spread((u8)~DH_CAPER_FLAGS);
    u64 n = 0, same[2];
    do {
        bytes16 equal = (bytes16)((*(const bytes16 *)(at + n) & codes) == many);
        __builtin_memcpy(same, &equal, sizeof(same));
        n += sizeof(many);
    } while ((same[0] & same[1]) == ~0ull);
    n -= sizeof(many);
    while ((at[n] & ~DH_CAPER_FLAGS) == code)
        n++;
    return n;
}

/* Of a block that is too long for the digits. A grain that has the last code, and is at the first place for
 * it, is in the same block: in any other it would be nearer to the beginning. */
static u64 walk(const u8 *at)
{
    const u8 last = DH_CAPER_FIRST - 1;
    const u64 far = 8ull * LONGEST;
    if ((at[far] & ~DH_CAPER_FLAGS) == last)
        return far + count_same(at + far, last);
    return LONGEST + count_same(at + LONGEST, last - 1);
}

struct dh_esc_block dh_esc_shadow_block(u64 first)
{
    const u8 *at = dh_esc_shadow(first);
    const u64 head = dh_esc_shadow_head(first);
    const u32 few = dh_esc_shadow_few(head);
    u64 n = few == 1 ? number_of(head) : dh_esc_shadow_is_few(few) ? few : 1;
    if (n == 0)
        n = walk(at);
    return (struct dh_esc_block){.n = n,
                                 .owner = (u8)((head & 0xff & ~(u64)DH_CAPER_FLAGS) - DH_CAPER_FIRST),
                                 .open = (at[n - 1] & DH_CAPER_OPEN) != 0,
                                 .holds = (head & DH_CAPER_HOLDS) != 0};
}

/* ---- What blocks hold ---- */

/* A signal handler may make the block escape meanwhile; what it has cleared must stay cleared. */
static bool add_flag(u8 *at)
{
    u8 code = *(volatile u8 *)at;
    while (code != 0 && (code & DH_CAPER_HOLDS) == 0)
        if (dh_esc_shadow_exchange(at, &code, code | DH_CAPER_HOLDS))
            return true;
    return code != 0;
}

bool dh_esc_shadow_hold(u64 first, u64 grain, u32 owner)
{
    u8 *at = dh_esc_shadow(first);
    return (*at & ~DH_CAPER_FLAGS) == DH_CAPER_FIRST + owner && add_flag(at) &&
           add_flag(dh_esc_shadow(grain));
}
