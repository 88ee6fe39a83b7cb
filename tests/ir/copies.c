// memcpy, memmove, memset: one check for each side, in place when small. What is sure to become a call of the C
// library is checked by the interceptor, and only there.
// EXPECT var: enter=1 exit=1
// EXPECT set: enter=1 exit=1
// EXPECT move: enter=1 exit=1
// EXPECT huge: enter=1 exit=1
// EXPECT middling: enter=1 exit=1
// EXPECT fill: enter=1 exit=1
// EXPECT wide: read_range=1 write_range=1
// EXPECT clear: write_range=1
// EXPECT big: read_range=1 write_range=1
// EXPECT small: read16=1 read8=1 write16=1 write8=1
// EXPECT from_const: write_range=1
// EXPECT to_local: read_range=1
// EXPECT nothing: 
// RUN: -O1
void var(char *d, const char *s, unsigned n) { __builtin_memcpy(d, s, n); }
void set(char *d, unsigned long n) { __builtin_memset(d, 0, n); }
void move(char *d, char *s, unsigned long n) { __builtin_memmove(d, s, n); }
struct big { char c[100]; };
void big(struct big *d, struct big *s) { *d = *s; }
struct huge { char c[5000]; };
void huge(struct huge *d, struct huge *s) { *d = *s; }
struct middling { char c[200]; };
void middling(struct middling *d, struct middling *s) { *d = *s; }
void fill(char *d) { __builtin_memset(d, 0, 300); }
__attribute__((target("avx"))) void wide(struct middling *d, struct middling *s) { *d = *s; }
void clear(struct big *d) { __builtin_memset(d, 0, sizeof(*d)); }
struct small { long a, b, c; };
void small(struct small *d, struct small *s) { *d = *s; }
static const struct big origin = {"abc"};
void from_const(struct big *d) { *d = origin; }
int to_local(struct big *s, int i) { struct big l = *s; l.c[i] = 1; return l.c[i + 1]; }
void nothing(char *d, char *s) { __builtin_memcpy(d, s, 0); }
