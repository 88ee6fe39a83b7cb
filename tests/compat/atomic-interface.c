// The functions of tsan_interface_atomic.h: their values, and that they order.
#include <sanitizer/tsan_interface_atomic.h>

#include "../programs/invisible.h"

#define RELAXED __tsan_memory_order_relaxed
#define ACQUIRE __tsan_memory_order_acquire
#define RELEASE __tsan_memory_order_release
#define BOTH __tsan_memory_order_acq_rel
#define ALL __tsan_memory_order_seq_cst

#define VALUES(bits)                                                                                     \
    static void values_##bits(void)                                                                      \
    {                                                                                                    \
        static __tsan_atomic##bits a __attribute__((aligned(16)));                                       \
        __tsan_atomic##bits seen, big = (__tsan_atomic##bits)((__tsan_atomic##bits)3 << (bits - 4)) | 5; \
                                                                                                         \
        __tsan_atomic##bits##_store(&a, big, ALL);                                                       \
        MUST(__tsan_atomic##bits##_load(&a, ALL) == big);                                                \
        MUST(__tsan_atomic##bits##_exchange(&a, 12, BOTH) == big);                                       \
        MUST(__tsan_atomic##bits##_fetch_add(&a, 3, RELAXED) == 12);                                     \
        MUST(__tsan_atomic##bits##_fetch_sub(&a, 1, RELEASE) == 15);                                     \
        MUST(__tsan_atomic##bits##_fetch_and(&a, 7, ACQUIRE) == 14);                                     \
        MUST(__tsan_atomic##bits##_fetch_or(&a, 9, ALL) == 6);                                           \
        MUST(__tsan_atomic##bits##_fetch_xor(&a, 5, ALL) == 15);                                         \
        MUST(__tsan_atomic##bits##_fetch_nand(&a, 6, ALL) == 10);                                        \
        MUST(__tsan_atomic##bits##_load(&a, RELAXED) == (__tsan_atomic##bits) ~2);                       \
        seen = 1;                                                                                        \
        MUST(!__tsan_atomic##bits##_compare_exchange_strong(&a, &seen, 4, ALL, ACQUIRE));                \
        MUST(seen == (__tsan_atomic##bits) ~2);                                                          \
        MUST(__tsan_atomic##bits##_compare_exchange_strong(&a, &seen, 4, ALL, ACQUIRE));                 \
        seen = 4;                                                                                        \
        MUST(__tsan_atomic##bits##_compare_exchange_weak(&a, &seen, big, ALL, ACQUIRE));                 \
        MUST(__tsan_atomic##bits##_compare_exchange_val(&a, 1, 2, ALL, ACQUIRE) == big);                 \
        MUST(__tsan_atomic##bits##_compare_exchange_val(&a, big, 2, ALL, ACQUIRE) == big);               \
        MUST(__tsan_atomic##bits##_load(&a, ALL) == 2);                                                  \
    }
VALUES(8)
VALUES(16)
VALUES(32)
VALUES(64)
VALUES(128)

static int data, loose, fenced;
static __tsan_atomic128 flag;
static __tsan_atomic32 relaxed, fence_flag;

THREAD(first)
{
    data = 1;
    loose = 1; // RACE l:write
    fenced = 1;
    __tsan_atomic128_store(&flag, 1, RELEASE);
    __tsan_atomic32_store(&relaxed, 1, RELAXED);
    __tsan_atomic_thread_fence(RELEASE);
    __tsan_atomic32_store(&fence_flag, 1, RELAXED);
    __tsan_atomic_signal_fence(ALL);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(__tsan_atomic32_load(&relaxed, ACQUIRE) == 1);
    use(loose); // RACE l:read
    MUST(__tsan_atomic32_load(&fence_flag, RELAXED) == 1);
    __tsan_atomic_thread_fence(ACQUIRE);
    use(fenced);
    MUST(__tsan_atomic128_fetch_add(&flag, 1, ACQUIRE) == 1);
    use(data);
    return NULL;
}

int main(void)
{
    values_8();
    values_16();
    values_32();
    values_64();
    values_128();
    both(first, second);
    return 0;
}
