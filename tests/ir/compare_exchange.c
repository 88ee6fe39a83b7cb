// What a compare-exchange did decides the order and the kind that post is told; pre is told that it may store.
// EXPECT cas: atomic_pre=1 atomic_post=1
// MATCH cas: __dh_atomic_pre\(ptr %[^,]*, i32 4, i32 4, i32 3\)
// MATCH cas: extractvalue \{ i32, i1 \} %[0-9]+, 1
// MATCH cas: select i1 %[0-9]+, i32 4, i32 2
// MATCH cas: select i1 %[0-9]+, i32 2, i32 3
#include <stdatomic.h>
int cas(atomic_int *p, int want)
{
    return atomic_compare_exchange_strong_explicit(p, &want, 7, memory_order_acq_rel, memory_order_acquire);
}
