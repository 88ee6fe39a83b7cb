// The frame is popped before a call that must be the last.
// EXPECT g: enter=1 exit=1 read4=1
// MATCH g: musttail call
int f(int *p);
int g(int *p) { ++p; if (*p == 3) p++; __attribute__((musttail)) return f(p); }
