// Counters that the compiler itself added race by design and are not the program's.
// RUN: -O1 -fprofile-instr-generate
// EXPECT f: write4=1
int x;
void f(void) { x = 1; }
