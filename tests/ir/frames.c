// Functions with checks or calls push a frame and pop it at every return; others do not.
// EXPECT leaf: enter=0 exit=0
// EXPECT reader: read4=1 enter=1 exit=1
// EXPECT caller: enter=1 exit=1
// EXPECT only_math: enter=0 exit=0
// MATCH caller: call ptr @llvm.returnaddress\(i32 0\)
// EXPECT two_ways: enter=1 exit=2
// EXPECT never: enter=1 exit=0
// RUN: -O1 -fno-math-errno
void f(void);
_Noreturn void end(void);
double cosh(double);
int leaf(int a, int b) { return a * b; }
int reader(int *p) { return *p; }
void caller(void) { f(); }
double only_math(double x) { return cosh(x) + 1; }
__attribute__((optnone, noinline)) int two_ways(int x)
{
    if (x) { f(); __attribute__((musttail)) return two_ways(x - 1); }
    return 1;
}
void never(void) { end(); }
