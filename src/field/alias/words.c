/*
 * words.c - finds the history of a word: a two-level table indexed by address. The upper level covers all of
 * user space and is touched only where the program has memory; a lower one covers 4 MB, and is never freed.
 */
#include "base/sys.h"
#include "field/alias/alias.h"

enum { SHIFT = 22, UPPER = 1 << (47 - SHIFT), LOWER = 1 << (SHIFT - 3), PAGE = 4096 };

static u32 **upper; /* atomic */

bool dh_alias_words_init(void)
{
    upper = dh_alias_map(UPPER * sizeof(*upper));
    return upper != NULL;
}

static DH_NOINLINE u32 *add_lower(u32 **at)
{
    u32 *new = dh_alias_map(LOWER * sizeof(*new)), *known = NULL;
    if (!new) {
        dh_alias_full();
        return NULL;
    }
    if (__atomic_compare_exchange_n(at, &known, new, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return new;
    dh_sys_unmap(new, LOWER * sizeof(*new));
    return known;
}

u32 *dh_alias_word(uptr address)
{
    if (DH_UNLIKELY(address >> 47))
        return NULL;
    u32 **at = &upper[address >> SHIFT], *lower = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (DH_UNLIKELY(!lower))
        lower = add_lower(at);
    return lower ? &lower[(address >> 3) % LOWER] : NULL;
}

/* Whole pages of histories are returned to the kernel. */
static void forget_in(u32 *lower, u64 from, u64 to)
{
    enum { A_PAGE = PAGE / sizeof(u32) };
    u64 first = DH_ALIGN_UP(from, A_PAGE), last = DH_ALIGN_DOWN(to, A_PAGE);
    if (first < last && dh_sys_discard((uptr)&lower[first], (last - first) * sizeof(*lower))) {
        forget_in(lower, from, first);
        from = last;
    }
    for (; from < to; from++)
        if (__atomic_load_n(&lower[from], __ATOMIC_RELAXED) != 0)
            __atomic_store_n(&lower[from], 0, __ATOMIC_RELAXED);
}

void dh_alias_words_forget(uptr from, uptr to)
{
    if (to > 1ull << 47 || from >= to)
        return;
    u64 word = from >> 3, end = to >> 3;
    while (word < end) {
        u64 next = DH_ALIGN_UP(word + 1, LOWER);
        u64 until = next < end ? next : end;
        u32 *lower = __atomic_load_n(&upper[word / LOWER], __ATOMIC_ACQUIRE);
        if (lower)
            forget_in(lower, word % LOWER, until - (word - word % LOWER));
        word = until;
    }
}
