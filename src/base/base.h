/*
 * base.h - what every room uses: fixed-width types, branch hints, checks.
 *
 * Freestanding: safe inside a target process, before and after main, in signal handlers.
 * Nothing here allocates, locks or touches errno.
 */
#ifndef DH_BASE_H
#define DH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uintptr_t uptr;

#define DH_LIKELY(x) __builtin_expect(!!(x), 1)
#define DH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define DH_INLINE static inline __attribute__((always_inline))
#define DH_NOINLINE __attribute__((noinline))
#define DH_COLD __attribute__((cold, noinline))
#define DH_HIDDEN __attribute__((visibility("hidden")))
#define DH_EXPORT __attribute__((visibility("default")))
#define DH_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define DH_ALIGN_UP(x, a) (((x) + ((a) - 1)) & ~((uptr)(a) - 1))
#define DH_ALIGN_DOWN(x, a) ((x) & ~((uptr)(a) - 1))

/* A failed check is a bug of ours: say where and abort, whatever the build. */
_Noreturn void dh_base_check_failed(const char *file, int line, const char *what);
#define DH_CHECK(cond) (DH_LIKELY(cond) ? (void)0 : dh_base_check_failed(__FILE__, __LINE__, #cond))

/*
 * Assertions that are too expensive for every build: only checked builds evaluate them (-DDH_CHECKED, see
 * docs/design/testing.md). Other builds compile the condition, so that it stays valid, but never evaluate it;
 * it must have no side effects.
 */
_Noreturn void dh_base_assert_failed(const char *file, int line, const char *what);
#ifdef DH_CHECKED
#define DH_ASSERT(cond) (DH_LIKELY(cond) ? (void)0 : dh_base_assert_failed(__FILE__, __LINE__, #cond))
#else
#define DH_ASSERT(cond) ((void)(false && (cond)))
#endif

/* All bits of the result depend on all bits of x. One multiplication is not enough: program counters at equal
 * distances in a loop would share a few buckets. */
DH_INLINE u64 dh_hash64(u64 x)
{
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ull;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ull;
    return x ^ (x >> 32);
}

#endif
