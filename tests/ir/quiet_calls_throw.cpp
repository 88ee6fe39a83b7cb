// A function that may throw calls what is not known. One that cannot, inline or not, is judged by its body, and
// so is a template.
// RUN: -O1
// EXPECT _Z11over_throwsPVi: read4=2
// EXPECT _Z11over_inlinePVi: read4=1
// EXPECT _Z13over_templatePVi: read4=1
// EXPECT _Z12over_virtualPViP1A: read4=2 read8=1
// EXPECT _Z8over_newPVi: read4=3
#define APART __attribute__((noinline))
int table[100];
struct A { virtual void f(); };
APART void throws(int x) { if (x > 9) throw x; table[x] = x; }
APART inline void inlined(int x) { table[x] = x; }
template <typename T> APART void templated(T x) { table[x] = x; }
APART int *made() { return new int; }
int over_throws(volatile int *p) { int x = *p; throws(x); return x + *p; }
int over_inline(volatile int *p) { int x = *p; inlined(x); return x + *p; }
int over_template(volatile int *p) { int x = *p; templated(x); return x + *p; }
int over_virtual(volatile int *p, A *a) { int x = *p; a->f(); return x + *p; }
int over_new(volatile int *p) { int x = *p; return x + *made() + *p; }
