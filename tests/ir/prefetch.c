// A prefetch of the program's is followed by one of the cells, which is no check and ends no window.
// RUN: -O1
// EXPECT ask: prefetch=1 read4=0
// EXPECT between: prefetch=1 read4=1
void ask(int *p) { __builtin_prefetch(p); }
int between(volatile int *p, int *q) { int a = *p; __builtin_prefetch(q); return a + *p; }
