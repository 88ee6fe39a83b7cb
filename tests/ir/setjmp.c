// Where setjmp returns again, the frames of the functions that did not return are dropped.
// EXPECT f: enter=1 exit=1 reenter=1
#include <setjmp.h>
extern jmp_buf place;
void g(void);
int f(void) { int n = 0; if (setjmp(place) == 0) { g(); n = 1; } return n; }
