// A read is covered by a write of the same place that follows with nothing in between that synchronises.
// EXPECT inc: write4=1
// EXPECT narrow: write8=1
// EXPECT call_between: read4=1 write4=1
// EXPECT atomic_between: read4=1 write4=1 atomic_pre=1 atomic_post=1
// EXPECT fence_between: read4=1 write4=1 fence=1
// EXPECT wider: far4=1 far8=1 rare_read8=1 rare_write4=1
// EXPECT other_block: read4=1 rare_write4=1
#include <stdatomic.h>
void f(void);
extern atomic_int a;
void inc(int *p) { ++*p; }
int narrow(int *p) { int x = p[1]; *(long *)p = x; return x; }
void call_between(int *p) { int x = *p; f(); *p = x + 1; }
void atomic_between(int *p) { int x = *p; atomic_store_explicit(&a, 1, memory_order_release); *p = x + 1; }
void fence_between(int *p) { int x = *p; atomic_thread_fence(memory_order_release); *p = x + 1; }
void wider(long *p) { long x = *p; *(int *)p = (int)x + 1; }
void other_block(int *p) { if (*p) *p = 0; }
