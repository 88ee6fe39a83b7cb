// What other checks that clang adds load is not the program's: here that an object is of the class it should be.
// RUN: -O0 -fsanitize=vptr -fno-sanitize-recover=vptr
// EXPECT get: read4=1
struct B { virtual int f(); int x; };
extern "C" int get(B *b) { return b->x; }
