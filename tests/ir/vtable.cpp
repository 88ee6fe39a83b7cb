// Loading from a vtable is not checked, loading the pointer to it is; storing that pointer is a case of its own.
// EXPECT call_virtual: read8=1
// EXPECT construct: vptr_write=1 write4=1
// MATCH construct: __dh_vptr_write\(ptr [^,]*, ptr .*_ZTV1B
#include <new>
struct B { B(); virtual int f(); int x; };
inline __attribute__((always_inline)) B::B() : x(1) {}
extern "C" int call_virtual(B *b) { return b->f(); }
extern "C" void construct(void *p) { new (p) B; }
