// A check that lies on every way to another one, with nothing that synchronises between, makes it needless.
// RUN: -O1 -fno-strict-aliasing
// EXPECT dominated: read4=1 rare_write4=2
// EXPECT after_join: read4=1 write4=1 rare_write1=2
// EXPECT read_after_write: write4=1 rare_write4=2
// EXPECT smaller: read8=1 rare_write4=2
// EXPECT one_way_only: read4=1 rare_read4=1 rare_write4=1
// EXPECT both_ways: read4=1 rare_read4=2 rare_write4=1 rare_write1=1
// EXPECT call_on_one_way: read4=2
// EXPECT atomic_on_one_way: read4=2 atomic_pre=1 atomic_post=1
// EXPECT write_after_read: read4=1 rare_write4=1
// EXPECT larger: read4=1 rare_read4=1 rare_read8=1
// EXPECT call_in_loop: read4=2
// EXPECT moving: read4=3 write4=1
#include <stdatomic.h>
void f(void);
extern atomic_int a;
int dominated(volatile int *p, int *q) { int x = *p; if (x) { *q = 1; return *p; } *q = 2; return 0; }
int after_join(volatile int *p, int *q, char *r) { int x = *p; if (x > 9) *r = 1; else r[1] = 2; *q = 1; return *p; }
int read_after_write(volatile int *p, int *q, int c) { *p = c; if (c) { *q = 1; return *p; } *q = 2; return 0; }
int smaller(volatile long *p, int *q) { long x = *p; if (x) { *q = 1; return ((volatile int *)p)[1]; } *q = 2; return 0; }
int one_way_only(volatile int *p, int *q, int c) { int x = 0; if (c) { x = *p; *q = 1; } return x + *p; }
int both_ways(volatile int *p, int *q, char *r, int c)
{
    int x;
    if (c > 3) {
        *q = 1;
        x = *p + 1;
    } else {
        *r = 1;
        x = *p * c;
    }
    return x + *p;
}
int call_on_one_way(volatile int *p) { int x = *p; if (x) f(); return *p; }
int atomic_on_one_way(volatile int *p) { int x = *p; if (x) atomic_store(&a, 1); return *p; }
void write_after_read(volatile int *p) { if (*p) *p = 0; }
long larger(volatile int *p) { if (*p) return *(volatile long *)p; return p[2]; }
void call_in_loop(volatile int *p) { if (*p) do f(); while (*p); }
/* The loop's condition is checked for a new address each time; only the last read of an iteration is needless. */
int moving(volatile int *p, int *q)
{
    while (*p != 7) {
        if (*p == 3)
            *q = 1;
        p += *p;
    }
    return 0;
}
