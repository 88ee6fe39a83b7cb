// In a shared object whose functions may be replaced by others of their name, a body says nothing; one that is
// hidden, or of this file alone, does.
// RUN: -O1 -fPIC -fsemantic-interposition
// EXPECT over_replaceable: read4=2
// EXPECT over_hidden: read4=1
// EXPECT over_static: read4=1
#define APART __attribute__((noinline))
int table[100];
APART void replaceable(int x) { table[x] = x; }
__attribute__((visibility("hidden"))) APART void hidden(int x) { table[x] = x + 1; }
static APART void own(int x) { table[x] = x + 2; }
int over_replaceable(volatile int *p) { int x = *p; replaceable(x); return x + *p; }
int over_hidden(volatile int *p) { int x = *p; hidden(x); return x + *p; }
int over_static(volatile int *p) { int x = *p; own(x); return x + *p; }
