// Checks in code that is hardly ever executed are calls; those in loops and on the usual ways are inlined.
// RUN: -O1
// EXPECT usual: read4=1 rare_write4=1
// EXPECT in_loop: read4=1 write4=1 write_n=0
// EXPECT half: read4=1 write4=2
// MATCH usual: call preserve_mostcc void @__dh_rare_write4
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
void f(void);
void usual(int *p, int *q) { if (UNLIKELY(*p)) *q = 1; }
void in_loop(int *p, int *q) { for (;;) { f(); if (UNLIKELY(p[0] == 5)) *q = 1; } }
void half(int *p, int *q) { if (*p > 5) q[1] = 1; else *q = 2; }
