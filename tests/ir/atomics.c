// Atomic operations stand between pre and post, with size, order and kind.
// EXPECT load: atomic_pre=1 atomic_post=1 enter=1 exit=1
// MATCH load: __dh_atomic_pre\(ptr @a, i32 4, i32 2, i32 0\)
// MATCH load: __dh_atomic_post\(ptr [^,]*, i32 2, i32 0\)
// EXPECT store: atomic_pre=1 atomic_post=1
// MATCH store: __dh_atomic_pre\(ptr @a, i32 4, i32 3, i32 1\)
// EXPECT add: atomic_pre=1 atomic_post=1
// MATCH add: __dh_atomic_pre\(ptr @b, i32 8, i32 5, i32 2\)
// EXPECT relaxed: atomic_pre=1 atomic_post=1
// MATCH relaxed: __dh_atomic_pre\(ptr @a, i32 4, i32 0, i32 0\)
// EXPECT swap: atomic_pre=1 atomic_post=1
// MATCH swap: __dh_atomic_pre\(ptr @c, i32 1, i32 4, i32 2\)
// EXPECT fences: fence=4
// MATCH fences: __dh_fence\(i32 2\)
// MATCH fences: __dh_fence\(i32 3\)
// MATCH fences: __dh_fence\(i32 4\)
// MATCH fences: __dh_fence\(i32 5\)
#include <stdatomic.h>
atomic_int a;
atomic_long b;
atomic_char c;
int load(void) { return atomic_load_explicit(&a, memory_order_acquire); }
void store(int x) { atomic_store_explicit(&a, x, memory_order_release); }
long add(void) { return atomic_fetch_add(&b, 1); }
int relaxed(void) { return atomic_load_explicit(&a, memory_order_relaxed); }
char swap(char x) { return atomic_exchange_explicit(&c, x, memory_order_acq_rel); }
void f(void);
void fences(void)
{
    atomic_thread_fence(memory_order_acquire);
    f();
    atomic_thread_fence(memory_order_release);
    f();
    atomic_thread_fence(memory_order_acq_rel);
    f();
    atomic_thread_fence(memory_order_seq_cst);
}
