// A function that as a rule calls others pushes its frame by a call, which is given the return address in r10 and keeps the
// registers with the arguments; where the arguments are in vector registers, or may be, it does not.
// EXPECT leaf: write4=1 enter=1 rare_enter=0
// EXPECT caller: rare_enter=1 enter=0 exit=1
// EXPECT of_double: rare_enter=0 enter=1
// EXPECT of_any: rare_enter=0 enter=1
// EXPECT sometimes: write4=1 rare_enter=0 enter=1
// MATCH caller: call preserve_mostcc ptr @__dh_rare_enter\(ptr nest
void f(void *, int);
void leaf(volatile int *p) { *p = 1; }
void caller(void *p, int n) { f(p, n); }
void of_double(void *p, double x) { f(p, x > 1); }
void of_any(void *p, ...) { f(p, 1); }
void sometimes(volatile int *p, int n) { *p = n; if (__builtin_expect(n, 0)) f((void *)p, n); }
