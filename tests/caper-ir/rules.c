/* One function for each rule of src/ir/caper/rules.def; run.sh says what a CASE is. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *global;
long number;
double real;
extern void unknown(void *);
extern void *gives(void);

/* CASE to_global store: ask=1 publish=1 */
void to_global(void *p)
{
    global = p;
}
/* CASE to_memory store: store=1 */
void to_memory(void **at, void *p)
{
    *at = p;
}
/* CASE integer store: store_bits=1 */
void integer(long *at, long *from)
{
    *at = *from;
}
/* CASE constant -: */
void constant(void **at)
{
    *at = &number;
}
/* CASE counter -: */
void counter(long *at)
{
    *at += 3;
}
/* CASE product -: */
void product(long *at, int a, int b)
{
    *at = (long)a * b;
}
/* What comes from escaped memory has escaped. CASE from_global -: ask=1 */
void from_global(void **at)
{
    *at = global;
}
/* Within one object nothing new can be reached. CASE exchanged -: */
void exchanged(void **at, long i, long j)
{
    void *p = at[i];
    at[i] = at[j];
    at[j] = p;
}
/* CASE local -: return=1 */
long local(long i, long j)
{
    long x[4] = {0};
    x[i & 3] = i;
    return x[j & 3];
}

/* CASE atomic atomic: ask=1 bits=1 */
void atomic(void *p)
{
    __atomic_store_n(&global, p, __ATOMIC_RELEASE);
}
/* CASE exchange atomic: return=1 store_bits=1 */
void *exchange(void **at, void *p)
{
    return __atomic_exchange_n(at, p, __ATOMIC_ACQ_REL);
}
/* CASE compare atomic: store_bits=1 */
int compare(void **at, void *p, void *q)
{
    return __atomic_compare_exchange_n(at, &p, q, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

typedef long lanes __attribute__((vector_size(16)));
/* CASE vector vector: store_bits=2 */
void vector(lanes *at, const lanes *from)
{
    *at = *from;
}
/* CASE moved_bits float: store_bits=1 */
void moved_bits(double *at, const double *from)
{
    *at = *from;
}
/* CASE computed_bits -: */
void computed_bits(double *at, const double *from)
{
    *at = *from * 2;
}

/* CASE byte piece: bits=1 */
void byte(char *at, const char *from)
{
    *at = *from;
}
/* The memory that was loaded is overwritten before the second store. CASE swap piece: bits=2 */
void swap(char *a, char *b)
{
    char t = *a;
    *a = *b;
    *b = t;
}
/* CASE half piece: bits=1 */
void half(int *at, const int *from)
{
    *at = *from;
}
/* The distance from a variable stands for the address. CASE from_variable cast: publish=1 */
void from_variable(long *at, char *p)
{
    *at = (long)((uintptr_t)p - (uintptr_t)&number);
}
/* So does that from another block. CASE from_block cast: ask=1 new=1 publish=3 */
void from_block(int *at, char *p)
{
    char *b = malloc(100);
    global = b;
    *at = (int)((long)((uintptr_t)p - (uintptr_t)b) / 16);
}
/* Whether it is within an array, only the program can tell. CASE distance cast: moved=2 */
void distance(long *at, char *p, char *q)
{
    *at = p - q;
}
/* Of one that is only compared, or an index, it does not matter. CASE nearer -: */
int nearer(char *p, char *q)
{
    return p - q < 16 && q[p - q] == 0;
}
/* CASE sum -: */
void sum(int *at, const int *from)
{
    *at = from[0] + from[1];
}

/* CASE copy copy: copy=1 */
void copy(char *at, const char *from, size_t n)
{
    memcpy(at, from, n);
}
char buffer[64];
/* CASE copy_out copy: ask=1 contents=1 */
void copy_out(const char *from, size_t n)
{
    memcpy(buffer, from, n);
}
/* CASE copy_text -: */
void copy_text(char *at)
{
    memcpy(at, "a long text that is a constant", 30);
}

/* CASE hash cast: publish=1 */
unsigned hash(void *p)
{
    return (unsigned)((uintptr_t)p >> 4) * 2654435761u;
}
/* CASE difference cast: moved=2 */
long difference(char *p, char *q)
{
    return p - q;
}
/* CASE aligned -: */
int aligned(void *p)
{
    return ((uintptr_t)p & 15) == 0;
}

/* CASE outside call: enter=1 leave=1 publish=1 */
void outside(void *p)
{
    unknown(p);
}
/* CASE measured -: */
size_t measured(char *p)
{
    return strlen(p);
}
/* CASE key call: publish=1 */
void key(pthread_key_t k, void *p)
{
    pthread_setspecific(k, p);
}
/* CASE sent contents: contents=1 */
long sent(int fd, void *p)
{
    return write(fd, p, 8);
}
/* CASE line contents: contents=2 publish=1 */
long line(char **p, size_t *n, FILE *f)
{
    return getline(p, n, f);
}
/* CASE parsed link: store=1 */
long parsed(char *p, char **end)
{
    return strtol(p, end, 10);
}
/* CASE through indirect: enter=1 leave=1 publish=1 */
void through(void (*f)(void *), void *p)
{
    f(p);
}
/* CASE wrapped return: enter=1 leave=1 publish=1 */
void wrapped(void *p)
{
    unknown(p);
}

__attribute__((noinline)) static void *take(int n, ...)
{
    va_list list;
    va_start(list, n);
    void *p = va_arg(list, void *);
    va_end(list);
    return p;
}
/* CASE variable vararg: publish=1 return=1 */
void *variable(void *p)
{
    return take(1, p);
}

struct large {
    void *p[4];
};
void *kept;
__attribute__((noinline)) static void by_value(struct large l)
{
    unknown(&l);
}
/* CASE pass byval: contents=1 */
void pass(struct large *l)
{
    by_value(*l);
}

/* CASE returned return: return=1 */
void *returned(void **p)
{
    return *p;
}

/* CASE assembly asm: publish=1 */
void assembly(void *p)
{
    __asm__ volatile("nop" : : "r"(p));
}
/* CASE hidden -: */
void hidden(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* CASE started thread: pthread_create=1 */
int started(pthread_t *t, void *(*f)(void *), void *p)
{
    return pthread_create(t, NULL, f, p);
}
/* CASE larger realloc: realloc=1 return=1 */
void *larger(void *p, size_t n)
{
    return realloc(p, n);
}
/* CASE made -: new=1 return=1 */
void *made(size_t n)
{
    return malloc(n);
}
/* CASE zeroed -: new=1 return=1 */
void *zeroed(size_t n)
{
    return calloc(n, 8);
}
/* CASE made_at link: contents=1 new=1 store=1 */
int made_at(void **p, size_t n)
{
    return posix_memalign(p, 64, n);
}
/* CASE made_at_global link: ask=1 contents=1 */
int made_at_global(size_t n)
{
    return posix_memalign(&global, 64, n);
}
/* CASE made_here return: contents=1 new=1 return=1 */
void *made_here(size_t n)
{
    void *p = NULL;
    return posix_memalign(&p, 64, n) ? NULL : p;
}
/* CASE ended free: free=1 */
void ended(void *p)
{
    free(p);
}

/* Bytes that another function stores. CASE hand_on piece: bits=1 */
__attribute__((noinline)) static void put(char *at, char c)
{
    *at = c;
}
void hand_on(char *at, const char *from)
{
    put(at, *from);
}

/* The distance is compared and goes no further; what is stored is next to what was there. CASE advanced -: */
void advanced(uint64_t *head, uint64_t *tail, uint64_t slots)
{
    uint64_t at = __atomic_load_n(tail, __ATOMIC_RELAXED);
    if (at - __atomic_load_n(head, __ATOMIC_RELAXED) < slots)
        __atomic_store_n(tail, at + 1, __ATOMIC_RELEASE);
}
/* The distance is kept. CASE kept_far cast: bits=2 store_bits=2 */
void kept_far(uint64_t *head, uint64_t *tail, uint64_t *distance)
{
    uint64_t at = __atomic_load_n(tail, __ATOMIC_RELAXED);
    *distance = at - __atomic_load_n(head, __ATOMIC_RELAXED);
    __atomic_store_n(tail, at + 1, __ATOMIC_RELEASE);
}
