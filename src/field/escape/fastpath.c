/*
 * fastpath.c - the part of the escape analysis that is inlined into the program's functions (escape.h).
 *
 * Compiled to escape.bc when deadheat is built; the plugin links it into the program, makes it internal and
 * inlines every call. Invariants: nothing here writes memory except the thread's depth and the marks; nothing
 * is called except slow paths; while the mask is 0 all branches fall through.
 */
#include "field/escape/inlined.h"

#define FAST __attribute__((always_inline, used))

/* Up to this many bytes are checked inline. */
enum { FEW = 32 };

FAST void __dh_esc_publish(u64 value)
{
    if (DH_UNLIKELY(dh_esc_is_candidate(value)))
        __dh_esc_slow_publish(value);
}

FAST void __dh_esc_bits(u64 value)
{
    if (DH_UNLIKELY(dh_esc_is_near(value)))
        __dh_esc_publish(value);
}

FAST void __dh_esc_moved(u64 from, u64 to)
{
    if (DH_UNLIKELY(dh_esc_is_candidate(from)) && dh_esc_index(from) != dh_esc_index(to))
        __dh_esc_slow_moved(from, to);
}

/* A scan would miss an unaligned word, and a word in a block that is not known to hold pointers. */
FAST void __dh_esc_store(const void *dst, u64 value)
{
    if (DH_UNLIKELY(dh_esc_is_candidate(value)))
        if ((dh_esc_at(dst) & DH_CAPER_HOLDS) == 0 || (uptr)dst % sizeof(u64) != 0)
            __dh_esc_slow_store(dst, value);
}

FAST void __dh_esc_store_bits(const void *dst, u64 value)
{
    if (DH_UNLIKELY(dh_esc_is_near(value)))
        __dh_esc_store(dst, value);
}

/* All words that have a byte in [src, src + n). They are in the same pages as those bytes. */
FAST void __dh_esc_contents(const void *src, u64 n)
{
    bool any = n > FEW;
    uptr at = DH_ALIGN_DOWN((uptr)src, sizeof(u64)), last = DH_ALIGN_DOWN((uptr)src + n - 1, sizeof(u64));
    for (u64 done = 0; n > 0 && n <= FEW && done < n + sizeof(u64) - 1; done += sizeof(u64)) {
        any |= dh_esc_is_near(*(const u64 *)at) && dh_esc_is_candidate(*(const u64 *)at);
        at = at < last ? at + sizeof(u64) : last;
    }
    if (DH_UNLIKELY(any))
        __dh_esc_slow_contents(src, n);
}

/* A copy that changes the alignment of words hides pointers from a scan; so does one that has only part of a
 * word at either end. */
FAST void __dh_esc_copy(const void *dst, const void *src, u64 n)
{
    const u8 at = dh_esc_at(dst);
    if (at == 0 || ((uptr)dst - (uptr)src) % sizeof(u64) != 0) {
        __dh_esc_contents(src, n);
        return;
    }
    if (DH_UNLIKELY(((uptr)src | n) % sizeof(u64) != 0) && n > 0) {
        __dh_esc_contents(src, 1);
        __dh_esc_contents((const char *)src + n - 1, 1);
    }
    if ((at & DH_CAPER_HOLDS) == 0)
        __dh_esc_slow_copy(dst, src, n);
}

FAST void __dh_esc_return(u64 value)
{
    if (DH_UNLIKELY(__dh_esc_outside != 0))
        if (dh_esc_is_near(value) && dh_esc_is_candidate(value))
            __dh_esc_slow_publish(value);
}

FAST void __dh_esc_leave(void)
{
    __dh_esc_outside++;
}

FAST void __dh_esc_enter(void)
{
    __dh_esc_outside--;
}

FAST u32 __dh_esc_depth(void)
{
    return __dh_esc_outside;
}

FAST void __dh_esc_caught(u32 depth)
{
    __dh_esc_outside = depth;
}

FAST void __dh_esc_new(void *p, u64 n)
{
    if (__dh_esc_mask != 0 && p)
        __dh_esc_slow_new(p, n);
}

FAST void __dh_esc_free(void *p)
{
    if (dh_esc_at(p) != 0)
        __dh_esc_slow_free(p);
}

/* A mark that is already set is not checked again: marks are nearby, while the shadow is as far away as the
 * memory. Nor is it written again: threads share its cache line. */
FAST void __dh_esc_ask(const void *p, u32 group)
{
    if (__dh_esc_marks[group] == 0 && dh_esc_at(p) == 0)
        __dh_esc_marks[group] = 1;
}
