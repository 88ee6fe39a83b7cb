/*
 * compat/atomic.c - the atomic operations of -fsanitize=thread and of <sanitizer/tsan_interface_atomic.h>.
 *
 * The compiler has replaced the operation by the call, so it is done here, between what __dh_atomic_pre and
 * __dh_atomic_post do (abi.h). It is done with the strongest order: the engine gets the order that the
 * program asked for, and a weaker one gains little on x86-64.
 *
 * Orders are C11's, as in enum dh_order; gcc may set further bits (lock elision).
 */
#include "runtime/compat/compat.h"
#include "runtime/engine/engine.h"

typedef __int128 i128;

#define ORDER(mo) ((u32)(mo) & 7)
#define BEGIN(a, mo, kind) dh_atomic_begin((a), sizeof(*(a)), ORDER(mo), kind, __builtin_return_address(0))

/* ---- Sixteen bytes: the compiler has no instructions for them but this one ---- */

static bool cas_128(volatile i128 *a, i128 *expected, i128 value)
{
    u64 lo = (u64)*expected, hi = (u64)(*expected >> 64);
    bool ok;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(ok), "+m"(*a), "+a"(lo), "+d"(hi)
                     : "b"((u64)value), "c"((u64)(value >> 64))
                     : "memory");
    *expected = (i128)hi << 64 | lo;
    return ok;
}

/* Compares with 0 and puts 0 in its place, or changes nothing. */
static i128 get_128(const volatile i128 *a)
{
    i128 seen = 0;
    cas_128((volatile i128 *)a, &seen, 0);
    return seen;
}

#define NEXT_exchange(old, v) (v)
#define NEXT_fetch_add(old, v) ((i128)((unsigned __int128)(old) + (unsigned __int128)(v)))
#define NEXT_fetch_sub(old, v) ((i128)((unsigned __int128)(old) - (unsigned __int128)(v)))
#define NEXT_fetch_and(old, v) ((old) & (v))
#define NEXT_fetch_or(old, v) ((old) | (v))
#define NEXT_fetch_xor(old, v) ((old) ^ (v))
#define NEXT_fetch_nand(old, v) (~((old) & (v)))

#define CHANGE_128(name)                                   \
    static i128 name##_128(volatile i128 *a, i128 v)       \
    {                                                      \
        i128 seen = get_128(a);                            \
        while (!cas_128(a, &seen, NEXT_##name(seen, v))) { \
        }                                                  \
        return seen;                                       \
    }
CHANGE_128(exchange)
CHANGE_128(fetch_add)
CHANGE_128(fetch_sub)
CHANGE_128(fetch_and)
CHANGE_128(fetch_or)
CHANGE_128(fetch_xor)
CHANGE_128(fetch_nand)

/* ---- All sizes ---- */

#define RMW(bits, type, name, operation)                                          \
    DH_COMPAT type __tsan_atomic##bits##_##name(volatile type *a, type v, int mo) \
    {                                                                             \
        void *h = BEGIN(a, mo, DH_ATOMIC_RMW);                                    \
        type old = operation;                                                     \
        __dh_atomic_post(h, ORDER(mo), DH_ATOMIC_RMW);                            \
        return old;                                                               \
    }

#define COMPARE_EXCHANGE(bits, type, name, cas)                                                        \
    DH_COMPAT int __tsan_atomic##bits##_##name(volatile type *a, type *c, type v, int mo, int fail_mo) \
    {                                                                                                  \
        type seen = *c;                                                                                \
        void *h = BEGIN(a, mo, DH_ATOMIC_CAS_FAILED);                                                  \
        bool ok = cas;                                                                                 \
        __dh_atomic_post(h, ORDER(ok ? mo : fail_mo), ok ? DH_ATOMIC_RMW : DH_ATOMIC_CAS_FAILED);      \
        if (!ok)                                                                                       \
            *c = seen;                                                                                 \
        return ok;                                                                                     \
    }

#define OPERATIONS(bits, type, load, store, cas)                                                        \
    DH_COMPAT type __tsan_atomic##bits##_load(const volatile type *a, int mo)                           \
    {                                                                                                   \
        void *h = BEGIN(a, mo, DH_ATOMIC_LOAD);                                                         \
        type v = load;                                                                                  \
        __dh_atomic_post(h, ORDER(mo), DH_ATOMIC_LOAD);                                                 \
        return v;                                                                                       \
    }                                                                                                   \
    DH_COMPAT void __tsan_atomic##bits##_store(volatile type *a, type v, int mo)                        \
    {                                                                                                   \
        void *h = BEGIN(a, mo, DH_ATOMIC_STORE);                                                        \
        store;                                                                                          \
        __dh_atomic_post(h, ORDER(mo), DH_ATOMIC_STORE);                                                \
    }                                                                                                   \
    COMPARE_EXCHANGE(bits, type, compare_exchange_strong, cas)                                          \
    COMPARE_EXCHANGE(bits, type, compare_exchange_weak, cas)                                            \
    DH_COMPAT type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v, int mo, \
                                                              int fail_mo)                              \
    {                                                                                                   \
        type seen = c;                                                                                  \
        void *h = BEGIN(a, mo, DH_ATOMIC_CAS_FAILED);                                                   \
        bool ok = cas;                                                                                  \
        __dh_atomic_post(h, ORDER(ok ? mo : fail_mo), ok ? DH_ATOMIC_RMW : DH_ATOMIC_CAS_FAILED);       \
        return seen;                                                                                    \
    }

#define SMALL(bits, type)                                                                                  \
    OPERATIONS(bits, type, __atomic_load_n(a, __ATOMIC_SEQ_CST), __atomic_store_n(a, v, __ATOMIC_SEQ_CST), \
               __atomic_compare_exchange_n(a, &seen, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))        \
    RMW(bits, type, exchange, __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST))                                 \
    RMW(bits, type, fetch_add, __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST))                                 \
    RMW(bits, type, fetch_sub, __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST))                                 \
    RMW(bits, type, fetch_and, __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST))                                 \
    RMW(bits, type, fetch_or, __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST))                                   \
    RMW(bits, type, fetch_xor, __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST))                                 \
    RMW(bits, type, fetch_nand, __atomic_fetch_nand(a, v, __ATOMIC_SEQ_CST))

SMALL(8, u8)
SMALL(16, u16)
SMALL(32, u32)
SMALL(64, u64)

OPERATIONS(128, i128, get_128(a), exchange_128(a, v), cas_128(a, &seen, v))
RMW(128, i128, exchange, exchange_128(a, v))
RMW(128, i128, fetch_add, fetch_add_128(a, v))
RMW(128, i128, fetch_sub, fetch_sub_128(a, v))
RMW(128, i128, fetch_and, fetch_and_128(a, v))
RMW(128, i128, fetch_or, fetch_or_128(a, v))
RMW(128, i128, fetch_xor, fetch_xor_128(a, v))
RMW(128, i128, fetch_nand, fetch_nand_128(a, v))

/* ---- Fences ---- */

DH_COMPAT void __tsan_atomic_thread_fence(int mo)
{
    __dh_fence(ORDER(mo));
}

/* Orders a thread only with its own signal handlers. */
DH_COMPAT void __tsan_atomic_signal_fence(int mo)
{
    (void)mo;
}
