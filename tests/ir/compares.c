// memcmp and bcmp of a constant size: code generation may make loads of them, so both sides are checked here.
// Of any other size they stay calls, which the interceptor checks, and only there.
// EXPECT word: read_range=2 enter=1 exit=1
// EXPECT few: read_range=2 enter=1 exit=1
// EXPECT with_const: read_range=1 enter=1 exit=1
// EXPECT many: enter=1 exit=1
// EXPECT some: enter=1 exit=1
// RUN: -O2
int memcmp(const void *a, const void *b, unsigned long n);
int word(const char *a, const char *b) { return memcmp(a, b, 8) > 0; }
int few(const char *a, const char *b) { return memcmp(a, b, 20) == 0; }
int with_const(const char *a) { return memcmp(a, "constant", 8) > 0; }
int many(const char *a, const char *b) { return memcmp(a, b, 5000) == 0; }
int some(const char *a, const char *b, unsigned long n) { return memcmp(a, b, n) == 0; }
