// Neighbouring parts of words on one line are one check; whole words, other lines and gaps are not.
// RUN: -O1 -g -fno-strict-aliasing
// EXPECT big_endian: read_n=1
// EXPECT backwards: read_n=1
// MATCH backwards: __dh_read_n\(ptr [^,]*, i64 3\)
// EXPECT stores: write_n=1
// EXPECT aligned: read4=1
// EXPECT words: far4=2 rare_read4=2
// EXPECT gap: far1=2 rare_read1=2
// EXPECT lines: far1=2 rare_read1=2
// EXPECT call_between: read1=2
// EXPECT kinds: far1=2 rare_read1=1 rare_write1=1
// EXPECT too_long: far1=1 far_n=1 rare_read1=1 rare_read_n=1
void f(void);
int big_endian(volatile unsigned char *p) { return p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
int backwards(volatile unsigned char *p) { return p[2] << 16 | p[1] << 8 | p[0]; }
void stores(volatile unsigned char *p, int x) { p[0] = (unsigned char)(x >> 8), p[1] = (unsigned char)x; }
int aligned(volatile unsigned short *p) { p = __builtin_assume_aligned((void *)p, 4); return p[0] << 16 | p[1]; }
int words(volatile int *p) { return p[0] + p[1]; }
int gap(volatile unsigned char *p) { return p[0] + p[2]; }
int lines(volatile unsigned char *p)
{
    int x = p[0];
    return x + p[1];
}
int call_between(volatile unsigned char *p) { int x = p[0]; f(); return x + p[1]; }
void kinds(volatile unsigned char *p) { p[1] = p[0]; }
int too_long(volatile unsigned char *p) { return p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6] + p[7] + p[8]; }
