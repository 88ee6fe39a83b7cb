// Pointers among variable arguments, in registers and in memory.
#include <pthread.h>
#include <stdarg.h>
int x, y, z;

static __attribute__((noinline)) void all(int n, ...)
{
    va_list l, m;
    va_start(l, n);
    va_copy(m, l);
    for (int i = 0; i < n; i++)
        ++*va_arg(l, int *); // RACE a b
    va_end(l);
    int *q = va_arg(m, int *);
    *q += 2;
    va_end(m);
}

static __attribute__((noinline)) void many(int a, int b, int c, int d, int e, int f, int n, ...)
{
    va_list l;
    va_start(l, n);
    (void)(a + b + c + d + e + f);
    *va_arg(l, int *) = 9; // RACE c
    va_end(l);
}

static void *f(void *p)
{
    all(2, &x, &y);
    many(1, 2, 3, 4, 5, 6, 7, &z);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 1; // RACE a
    y = 2; // RACE b
    z = 1; // RACE c
    pthread_join(t, 0);
    return 0;
}
