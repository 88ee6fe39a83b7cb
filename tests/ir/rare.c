// Which checks are inlined: those that the function's time may go into.
//
// Outside of loops, not what happens less than once in a call of the function; in a loop, not what happens less than once
// in a round, or where it computes with floating-point numbers, in every second one. In a loop, a case of a large switch counts by
// itself: an interpreter has many, and all may be hot.
// RUN: -O1
// EXPECT usual: read4=1 rare_write4=1
// EXPECT half: read4=1 rare_write4=2
// EXPECT half_of_loop: read4=1 rare_write4=2
// EXPECT half_of_floating_loop: read4=1 write4=2 rare_write4=0
// EXPECT quarter_of_floating_loop: read4=2 rare_write4=1
// EXPECT interpret: read4=1 write4=7 rare_write4=1
// MATCH usual: call preserve_mostcc void @__dh_rare_write4
//
// Not what stands beside a call: one in the function, or in such a case or floating-point loop. An atomic operation
// is a call, one that code generation has an instruction for is none, nor is recursion, nor what hardly ever happens.
// EXPECT beside_call: rare_write4=1
// EXPECT beside_other_loop: rare_write4=2
// EXPECT beside_other_floating_loop: write4=1 rare_write4=1
// EXPECT beside_atomic: rare_write4=1 atomic_pre=1 atomic_post=1
// EXPECT beside_root: write4=1 rare_write4=0
// EXPECT beside_itself: write4=1 rare_write4=0
// EXPECT beside_failure: write4=1 rare_write4=0
// EXPECT interpret_calls: read4=0 rare_read4=1 write4=1 rare_write4=6
//
// Not what is in a loop while another one goes round far more often.
// EXPECT shallow: write4=1 rare_write4=1
// EXPECT shallow_floating: write4=2 rare_write4=0
//
// Copies are checked in the same way.
// EXPECT copy: write8=1 write16=1 rare_write8=0
// EXPECT copy_beside_call: rare_write8=1 rare_write16=1
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
void f(void);
int g(void);
double sqrt(double);
void usual(int *p, int *q) { if (UNLIKELY(*p)) *q = 1; }
void half(int *p, int *q) { if (*p > 5) q[1] = 1; else *q = 2; }
void half_of_loop(volatile int *p, volatile int *q) { for (;;) if (p[0] > 5) q[1] = 1; else *q = 2; }
void half_of_floating_loop(volatile int *p, volatile int *q, double x)
{
    for (;; x *= 3) if (p[0] > 5) q[1] = (int)x; else *q = 2;
}
void quarter_of_floating_loop(volatile int *p, volatile int *q, double x)
{
    for (;; x *= 3) if (p[0] > 5 && p[1] > 5) q[1] = (int)x;
}
void interpret(volatile int *p, volatile int *q)
{
    for (;;)
        switch (*p) {
        case 0: q[0] = 1; break;
        case 1: q[1] = 2; break;
        case 2: q[2] = 4; if (UNLIKELY(p == q)) q[7] = 1; break;
        case 3: q[3] = 7; break;
        case 4: q[4] = 2; break;
        case 5: q[5] = 1; break;
        case 6: q[6] = 8; break;
        }
}
void beside_call(volatile int *p) { *p = 1; f(); }
void beside_other_loop(volatile int *p, volatile int *q, int n)
{
    for (int i = 0; i < n; i++) { p[i] = 1; f(); }
    for (int i = 0; i < n; i++) q[i * i] = 2;
}
void beside_other_floating_loop(volatile int *p, volatile int *q, int n, double x)
{
    for (int i = 0; i < n; i++) { p[i] = 1; f(); }
    for (int i = 0; i < n; i++, x *= 3) q[i * i] = (int)x;
}
void beside_atomic(volatile int *p, int *q) { *p = 1; __atomic_add_fetch(q, 1, __ATOMIC_RELAXED); }
double beside_root(volatile int *p, double x) { *p = 1; return sqrt(x); }
int beside_itself(volatile int *p, int n) { *p = n; return n ? beside_itself(p, n - 1) + beside_itself(p, n / 2) : 0; }
void beside_failure(volatile int *p, int n) { *p = 1; if (UNLIKELY(n)) f(); }
void interpret_calls(volatile int *p, volatile int *q)
{
    for (;; f())
        switch (*p) {
        case 0: q[0] = g(); break;
        case 1: q[1] = g(); break;
        case 2: q[2] = g(); break;
        case 3: q[3] = g(); break;
        case 4: q[4] = g(); break;
        case 5: q[5] = g(); break;
        case 6: q[6] = 8; break;
        }
}
void shallow(volatile int *p, volatile int *q, int n)
{
    for (int i = 0; i < n; i++) {
        p[i * i] = 1;
        for (int k = 0; k < n; k++) q[k * k] = 2;
    }
}
void shallow_floating(volatile int *p, volatile int *q, int n, double x)
{
    for (int i = 0; i < n; i++) {
        p[i * i] = 1;
        for (int k = 0; k < n; k++, x *= 3) q[k * k] = (int)x;
    }
}
void copy(long *p) { __builtin_memset(p, 0, 24); }
void copy_beside_call(long *p) { __builtin_memset(p, 0, 24); f(); }
