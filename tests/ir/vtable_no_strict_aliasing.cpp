// Pointers to vtables are known although types say nothing about aliases (see vtable_relaxed.cpp), and what tells of them does not make the
// optimiser believe that types do: the store into the union may have changed the pointer.
// RUN: -O2 -fno-strict-aliasing
// PLUGIN: yes
// MATCH *: "vtable pointer"
// MATCH replaced: call noundef i32 %
// NOMATCH replaced: call .*@_ZN1B1fEv
#include <new>
struct B { virtual int f(); };
union U { long number; long *pointer; };
__attribute__((noinline)) int B::f() { return 1; }
extern "C" int replaced(void *p, U *u, long *other)
{
    B *b = new (p) B;
    u->pointer = other;
    return b->f();
}
