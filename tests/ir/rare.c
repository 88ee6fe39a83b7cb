// Checks in code that is executed less than once in a call of the function, or in a loop in less than every second round,
// are calls; those on the usual ways are inlined. In a loop, a case of a large switch counts by itself: an interpreter has many, and
// all may be hot.
// RUN: -O1
// EXPECT usual: read4=1 rare_write4=1
// EXPECT half: read4=1 rare_write4=2
// EXPECT in_loop: read4=1 rare_write4=1
// EXPECT half_of_loop: read4=1 write4=2
// EXPECT quarter_of_loop: read4=2 rare_write4=1
// EXPECT interpret: read4=1 write4=7 rare_write4=1
// MATCH usual: call preserve_mostcc void @__dh_rare_write4
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
void f(void);
int g(void);
void usual(int *p, int *q) { if (UNLIKELY(*p)) *q = 1; }
void half(int *p, int *q) { if (*p > 5) q[1] = 1; else *q = 2; }
void in_loop(int *p, int *q) { for (;;) { f(); if (UNLIKELY(p[0] == 5)) *q = 1; } }
void half_of_loop(int *p, int *q) { for (;;) { f(); if (p[0] > 5) q[1] = 1; else *q = 2; } }
void quarter_of_loop(int *p, int *q) { for (;;) { f(); if (p[0] > 5 && p[1] > 5) q[1] = 1; } }
void interpret(int *p, int *q)
{
    for (;; f())
        switch (*p) {
        case 0: q[0] = g(); break;
        case 1: q[1] = g(); break;
        case 2: q[2] = g(); if (UNLIKELY(g())) q[7] = 1; break;
        case 3: q[3] = g(); break;
        case 4: q[4] = g(); break;
        case 5: q[5] = g(); break;
        case 6: q[6] = g(); break;
        default: f();
        }
}
