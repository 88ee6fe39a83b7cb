// Where code is to be small, all checks are calls.
// RUN: -Os
// EXPECT f: rare_read4=1 rare_write4=1
int f(int *p, int *q) { *q = 1; return *p; }
