// Unoptimised code is instrumented too.
// RUN: -O0
// EXPECT f: read4=1 write4=1 enter=1 exit=1
int x, y;
void f(void) { x = y; }
