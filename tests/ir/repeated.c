// The same place checked before, in the same window, is not checked again.
// RUN: -O1 -fno-strict-aliasing
// EXPECT read_twice: far4=2 rare_read4=1 rare_write4=1
// EXPECT read_after_write: far4=2 rare_write4=2
// EXPECT write_twice: far4=2 rare_write4=2
// EXPECT inside: far1=1 far8=1 rare_read8=1 rare_write1=1
// EXPECT after_call: read4=2
int read_twice(volatile int *p, int *q) { int x = *p; *q = x; return x + *p; }
int read_after_write(volatile int *p, int *q) { *p = 1; *q = 2; return *p; }
void write_twice(volatile int *p, int *q) { *p = 1; *q = 2; *p = 3; }
int inside(volatile long *p, char *q) { long x = *p; *q = 0; return (int)x + ((volatile int *)p)[1]; }
void f(void);
int after_call(volatile int *p) { int x = *p; f(); return x + *p; }
