// Accesses of one stretch are one test at the first of them, and behind it the checks of each, in order and with their own
// lines.
// RUN: -O1 -g -fno-strict-aliasing
// EXPECT fields: far4=2 far8=1 farthest=1 rare_write4=2 rare_write8=1
// MATCH fields: rare_write8\(ptr %0\), !dbg
// EXPECT mixed: far1=1 far2=1 far4=1 far8=1 farthest=1 rare_read1=1 rare_read2=1 rare_read4=1 rare_read8=1
// EXPECT both_kinds: far4=2 farthest=1 flip_read=1 flip_write=1 bases=1 rare_read4=1 rare_write4=1
// EXPECT two_pointers: far4=2 farthest=1 flip_read=1 rare_read4=2
// EXPECT chain: read8=1 read4=1 farthest=0
// EXPECT chain_and_field: far8=2 farthest=1 rare_read8=2 read4=1
// EXPECT five: far4=4 farthest=1 rare_read4=4 read4=1
// EXPECT call_between: write4=2 farthest=0
// EXPECT may_not_come_back: read4=2 farthest=0
// EXPECT calm_call_between: far4=2 farthest=1 rare_read4=2
// EXPECT globals: far4=2 farthest=1 rare_write4=2
// EXPECT unaligned: far4=1 far_n=1 farthest=1 rare_read4=1 rare_read_n=1
// EXPECT pieces: far4=1 far16=1 farthest=1 rare_write4=1 rare_write16=1
// EXPECT rare: read4=1 rare_write4=2 farthest=0
// EXPECT alone: write4=1 farthest=0
struct s { long a; int b, c; short d; char e; struct s *next; };
typedef long pair __attribute__((vector_size(16)));
struct __attribute__((packed)) packed { char tag; int number; };
void f(void);
double sqrt(double);
int x, y;
void fields(struct s *p)
{
    p->a = 1;
    p->b = 2;
    p->c = 3;
}
long mixed(volatile struct s *p) { return p->a + p->b + p->d + p->e; }
int both_kinds(struct s *p) { int b = p->b; p->c = 1; return b; }
int two_pointers(int *p, int *q) { return *p + *q; }
int chain(struct s *p) { return p->next->b; }
int chain_and_field(struct s *p) { long a = p->a; return p->next->b + (int)a; }
int five(volatile int *p) { return p[0] + p[2] + p[4] + p[6] + p[8]; }
void call_between(struct s *p) { p->b = 1; f(); p->c = 2; }
static __attribute__((noinline)) void poll(volatile int *flag) { while (!*flag) { } }
int may_not_come_back(struct s *p, volatile int *flag) { int b = p->b; poll(flag); return b + p->c; }
int calm_call_between(volatile struct s *p) { double b = sqrt(p->b); return (int)b + p->c; }
void globals(void) { x = 1; y = 2; }
int unaligned(struct packed *p, int *q) { return p->number + *q; }
void pieces(struct s *p, pair *q) { p->b = 1; *q = (pair){1, 2}; }
void rare(int *p, struct s *q) { if (__builtin_expect(*p, 0)) { q->b = 1; q->c = 2; } }
void alone(struct s *p) { p->b = 1; }
