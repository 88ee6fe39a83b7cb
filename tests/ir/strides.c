// Loops with gaps between what they touch: one strided check for each stretch that an iteration touches, exactly
// those bytes; short loops keep their own checks.
// RUN: -O1 -g -fno-unroll-loops -fno-strict-aliasing
// EXPECT field: read_stride=1 read4=1
// MATCH field: __dh_read_stride\(ptr [^,]*, i64 32, i64 %[0-9]+, i32 4, i32 4\)
// EXPECT fields: read_stride=1 far8=3 rare_read8=3
// MATCH fields: __dh_read_stride\(ptr [^,]*, i64 32, i64 %[0-9]+, i32 24, i32 8\)
// EXPECT apart: read_stride=2 read8=1 read4=1
// EXPECT lines: write_stride=2 write8=2
// EXPECT column: read_stride=1 read4=1
// EXPECT down: write_stride=1 write4=1
// MATCH down: __dh_write_stride\(ptr [^,]*, i64 12, i64 %[0-9]+, i32 4, i32 4\)
// EXPECT neighbours: read_stride=1 write8=1 write_stride=1 far8=2 rare_read8=2
// MATCH neighbours: add i64 %[0-9a-z.]+, 1
// EXPECT twice: write_stride=1 write4=2
// MATCH twice: __dh_write_stride\(ptr [^,]*, i64 8, i64 %[0-9]+, i32 4, i32 4\)
// EXPECT constant: write_stride=1
// MATCH constant: __dh_write_stride\(ptr [^,]*, i64 16, i64 100, i32 4, i32 4\)
// EXPECT few: write4=1
// EXPECT bytes: read1=1
// EXPECT packed: read_n=1
// EXPECT overlapping: read_loop=1 read8=1
// EXPECT search: read4=1
// EXPECT sometimes: read_stride=1 read4=2
// EXPECT locks: read4=1
// EXPECT variable: read4=1
// EXPECT half_of_next: read8=1 read_stride=2 far8=2 rare_read8=2
struct s { double x, y, z; int id, cell; };
struct t { double x, y; int id, cell; };
struct u { double x, y, z, w; };
struct c { char tag, other[7]; };
struct __attribute__((packed)) o { char tag; int n; };
void f(void);
int field(struct s *p, int n) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i].id; return x; }
double fields(volatile struct s *p, int n) { double x = 0; for (int i = 0; i < n; i++) x += p[i].x * p[i].y + p[i].z; return x; }
double apart(volatile struct t *p, int n) { double x = 0; for (int i = 0; i < n; i++) x += p[i].x * p[i].id; return x; }
void lines(struct u *p, int n)
{
    for (int i = 0; i < n; i++) {
        p[i].x = i;
        p[i].z = i;
    }
}
int column(int (*p)[100], int n, int j) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i][j]; return x; }
void down(int *p, int n) { for (int i = n - 1; i >= 0; i--) p[3 * i] = i; }
void neighbours(double *restrict p, volatile double *restrict q, int n) { for (int i = 1; i < n; i += 2) p[i] = q[i - 1] + q[i + 1]; }
void twice(volatile int *p, int n) { for (int i = 0; i < n; i++) p[4 * i] = i, p[4 * i + 2] = i; }
void constant(int *p) { for (int i = 0; i < 100; i++) p[4 * i] = i; }
void few(int *p, unsigned n) { for (unsigned i = 0; i < (n & 15); i++) p[4 * i] = 0; }
int bytes(struct c *p, int n) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i].tag; return x; }
int packed(struct o *p, int n) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i].n; return x; }
long overlapping(const char *p, int n) { long x = 0; for (int i = 0; i < n; i++) x ^= *(const long *)(p + 4 * i) & 1; return x; }
int search(struct s *p, int id) { int i = 0; while (p[i].id != id) i++; return i; }
int sometimes(struct s *p, int n) { int x = 0; for (int i = 0; i < n; i++) if (p[i].id) x += p[i].cell; return x; }
int locks(struct s *p, int n) { int x = 0; for (int i = 0; i < n; i++) { x ^= p[i].id; f(); } return x; }
int variable(int *p, int n, int step) { int x = 0; for (int i = 0; i < n; i++) x ^= p[i * step]; return x; }
double half_of_next(volatile struct u *p, int n) { double x = 0; for (int i = 0; i < n; i++) x += p[i].x + p[i].y * p[i + 1].x; return x; }
