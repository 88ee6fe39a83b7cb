// One check before a loop for what it touches throughout: a range, where the accesses leave no gap; short loops
// keep their own checks, and the choice is made before the loop.
// EXPECT up: write_loop=1 write4=1
// EXPECT down: write_loop=1 write4=1
// EXPECT stencil: read8=1 read_loop=1 write8=1 write_loop=1 far8=2 rare_read8=2
// EXPECT still: write8=1 read_loop=1 read4=1
// EXPECT constant: write_loop=1
// EXPECT tiny: write4=1
// EXPECT gaps: read_stride=1 read4=1
// EXPECT calls: read4=1
// EXPECT search: read1=1
// EXPECT sometimes: read_loop=1 read4=2
// EXPECT rows: read_loop=1 read4=1
// MATCH up: __dh_write_loop\(ptr %[0-9]+, i64 %[0-9]+, i32 4\)
// MATCH constant: __dh_write_loop\(ptr [^,]*, i64 4000, i32 4\)
// RUN: -O1 -fno-unroll-loops
void up(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
void down(int *p, int n) { for (int i = n - 1; i >= 0; i--) p[i] = i; }
void stencil(double *restrict b, double *restrict a, int n)
{
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
}
void still(double *s, volatile int *p, int n) { for (int i = 0; i < n; i++) *(volatile double *)s = p[i]; }
void constant(int *p) { for (int i = 0; i < 1000; i++) p[i] = i; }
void tiny(int *p, unsigned n) { for (unsigned i = 0; i < (n & 7); i++) p[i] = (int)i; }
struct s { int a, b; };
int gaps(struct s *p, int n) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i].a; return x; }
void f(int);
void calls(int *p, int n) { for (int i = 0; i < n; i++) f(p[i]); }
int search(const char *p, char c) { int i = 0; while (p[i] != c) i++; return i; }
int sometimes(int *p, int *q, int n) { int x = 0; for (int i = 0; i < n; i++) if (p[i]) x += q[i]; return x; }
int rows(int *p, int n, int m)
{
    int x = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) x ^= p[i * 1000 + j];
    return x;
}
