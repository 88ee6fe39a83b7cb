// volatile orders nothing between threads: a plain access.
// EXPECT f: far4=2 rare_read4=1 rare_write4=1
volatile int flag, seen;
void f(void) { seen = flag; }
