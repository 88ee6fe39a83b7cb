// volatile orders nothing between threads: a plain access.
// EXPECT f: read4=1 write4=1
volatile int flag, seen;
void f(void) { seen = flag; }
