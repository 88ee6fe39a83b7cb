// As vtable.cpp, under -fno-strict-aliasing, where clang marks pointers to vtables only because we ask for it.
// RUN: -O1 -fno-strict-aliasing
// EXPECT call_virtual: read8=1
// EXPECT construct: vptr_write=1 write4=1
#include <new>
struct B { B(); virtual int f(); int x; };
inline __attribute__((always_inline)) B::B() : x(1) {}
extern "C" int call_virtual(B *b) { return b->f(); }
extern "C" void construct(void *p) { new (p) B; }
