// A window passes over calls that cannot synchronise: functions of the module whose bodies show it, and some of
// the C library. What may not come back lets an earlier check stand for a later access, not the other way round.
// RUN: -O1 -fno-strict-aliasing -fno-unroll-loops -Wno-incompatible-library-redeclaration
// EXPECT over_leaf: read4=1
// EXPECT over_chain: read4=1
// EXPECT over_cycle: read4=1
// EXPECT over_string: read4=1
// EXPECT over_errno: read8=1
// EXPECT over_assertion: read4=1
// EXPECT later_write: write4=1
// EXPECT later_write_assertion: read4=1 write4=1
// EXPECT later_write_cycle: read4=1 write4=1
// EXPECT later_write_volatile: read4=1 write4=1
// EXPECT in_loop: write_loop=1 write4=1
// EXPECT in_loop_assertion: write4=1
// EXPECT across_blocks: read4=1
// EXPECT over_lock: read4=2
// EXPECT over_atomic: read4=2
// EXPECT over_fence: read4=2
// EXPECT over_pointer: read4=2
// EXPECT over_unknown: read4=2
// EXPECT over_noisy_cycle: read4=2
// EXPECT over_weak: read4=2
// EXPECT over_assembly: read4=2
// EXPECT over_free: read4=2
// EXPECT over_malloc: read4=2 write8=1
// EXPECT over_own_name: read4=2
// EXPECT over_returns_twice: read4=2
// EXPECT in_loop_noisy: write4=1
// EXPECT on_one_way: read4=2
// MATCH over_leaf: __dh_rare_enter
// MATCH over_string: __dh_enter
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#define APART __attribute__((noinline))
double pow(double, double);
unsigned long strlen(const char *);
int log(const char *text); /* not the library's */
int printf(const char *, ...);
int table[100], total;
atomic_int flag;
pthread_mutex_t mutex;
void unknown(void);
_Noreturn void failed(int);

APART void leaf(int x) { table[x] = x; }
APART void chain(int x) { leaf(x); for (int i = 0; i < x; i++) table[i] ^= x; leaf(x + 1); }
APART void odd(int x);
APART void even(int x) { table[x] = 1; if (x) odd(x - 1); table[x] += 2; }
APART void odd(int x) { table[x] = 3; if (x) even(x - 1); table[x] += 4; }
APART void checked(int x) { if (x < 0) failed(x); table[x] = x; }
APART void polls(volatile int *p) { while (!*p) continue; }
APART void locks(void) { pthread_mutex_lock(&mutex); total++; pthread_mutex_unlock(&mutex); }
APART void sets(void) { atomic_store_explicit(&flag, 1, memory_order_relaxed); }
APART void fences(void) { atomic_thread_fence(memory_order_release); }
APART void calls(void (*f)(void)) { f(); total++; }
APART void noisy_odd(int x);
APART void noisy_even(int x) { table[x] = 1; if (x) noisy_odd(x - 1); table[x] += 2; }
APART void noisy_odd(int x) { table[x] = 3; sets(); if (x) noisy_even(x - 1); table[x] += 4; }
APART void assembles(void) { __asm__ volatile("" ::: "memory"); }
APART void frees(int *p) { free(p); total++; }
APART int *makes(void) { total++; return malloc(40); }
__attribute__((weak)) void weak(int x) { table[x] = x; }

int over_leaf(volatile int *p) { int x = *p; leaf(x); return x + *p; }
int over_chain(volatile int *p) { int x = *p; chain(x); return x + *p; }
int over_cycle(volatile int *p) { int x = *p; even(x); return x + *p; }
int over_string(volatile int *p, const char *s) { int x = *p; return x + (int)strlen(s) + *p; }
double over_errno(volatile double *p) { double x = pow(*p, 3.5); return x + *p; }
int over_assertion(volatile int *p) { int x = *p; checked(x); return x + *p; }
void later_write(volatile int *p) { int x = *p; chain(x); *p = x + 1; }
void later_write_assertion(volatile int *p) { int x = *p; checked(x); *p = x + 1; }
void later_write_cycle(volatile int *p) { int x = *p; even(x); *p = x + 1; }
void later_write_volatile(volatile int *p, volatile int *q) { int x = *p; polls(q); *p = x + 1; }
void in_loop(int *p, int n) { for (int i = 0; i < n; i++) { p[i] = i; leaf(i); } }
void in_loop_assertion(int *p, int n) { for (int i = 0; i < n; i++) { p[i] = i; checked(i); } }
int across_blocks(volatile int *p) { int x = *p; if (x) leaf(x); else chain(x); return *p; }
int over_lock(volatile int *p) { int x = *p; locks(); return x + *p; }
int over_atomic(volatile int *p) { int x = *p; sets(); return x + *p; }
int over_fence(volatile int *p) { int x = *p; fences(); return x + *p; }
int over_pointer(volatile int *p, void (*f)(void)) { int x = *p; calls(f); return x + *p; }
int over_unknown(volatile int *p) { int x = *p; unknown(); return x + *p; }
int over_noisy_cycle(volatile int *p) { int x = *p; noisy_even(x); return x + *p; }
int over_weak(volatile int *p) { int x = *p; weak(x); return x + *p; }
int over_assembly(volatile int *p) { int x = *p; assembles(); return x + *p; }
int over_free(volatile int *p, int *q) { int x = *p; frees(q); return x + *p; }
int over_malloc(volatile int *p, int **q) { int x = *p; *q = makes(); return x + *p; }
int over_own_name(volatile int *p) { int x = *p; log("text"); return x + *p; }
int over_returns_twice(volatile int *p, jmp_buf *b) { int x = *p; if (setjmp(*b)) x++; return x + *p; }
void in_loop_noisy(int *p, int n) { for (int i = 0; i < n; i++) { p[i] = i; sets(); } }
int on_one_way(volatile int *p) { int x = *p; if (x) leaf(x); else locks(); return *p; }
