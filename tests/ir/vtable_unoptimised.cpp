// As vtable.cpp, where clang marks pointers to vtables only because the plugin of its front end asks for it: every way of reading a vtable.
// RUN: -O0 -fno-exceptions
// EXPECT call_virtual: read8=1
// EXPECT call_second_base: read8=1
// EXPECT virtual_base_field: read8=1 read4=1
// EXPECT to_virtual_base: read8=1
// EXPECT whole_object: read8=1
// EXPECT type_of: read8=1
// EXPECT call_member: read8=1
// EXPECT destroy: read8=1
// EXPECT _ZN1BC2Ev: vptr_write=1 write4=1
// EXPECT _ZN1VC1Ev: vptr_write=2 write4=1
// EXPECT _ZN1VC2Ev: vptr_write=2 write4=1 read8=3
// EXPECT _ZN1VD2Ev: vptr_write=2 read8=3
// EXPECT only_the_name: read8=4
#if __has_feature(thread_sanitizer)
#error the program must not see how it is done
#endif
#include <new>
#include <typeinfo>
struct B { B(); virtual ~B(); virtual int f(); int x; };
struct C { virtual int g(); int y; };
struct D : B, C { int g() override; };
struct V : virtual C { V(); virtual int h(); ~V(); int z; };
struct named { long *vtable; };
B::B() : x(1) {}
V::V() : z(1) {}
V::~V() { h(); }
extern "C" {
int call_virtual(B *b) { return b->f(); }
int call_second_base(D *d) { return static_cast<C *>(d)->g(); }
int virtual_base_field(V *v) { return v->y; }
C *to_virtual_base(V *v) { return v; }
void *whole_object(B *b) { return dynamic_cast<void *>(b); }
const std::type_info *type_of(B *b) { return &typeid(*b); }
int call_member(B *b, int (B::*p)()) { return (b->*p)(); }
void destroy(B *b) { delete b; }
long only_the_name(named *n) { long *vtable = n->vtable; return *vtable + *n->vtable; }
}
