// Indirect functions: the resolver says which one it is.
#include <pthread.h>
int x, y;

static void slow(int *p)
{
    ++*p; // RACE a b
}

static void fast(int *p)
{
    *p += 1; // RACE c d
}

static void (*pick(void))(int *)
{
    return __builtin_cpu_supports("avx2") ? fast : slow;
}

void go(int *p) __attribute__((ifunc("pick")));

void (*ptr)(int *) = go;

static void *f(void *p)
{
    go(&x);
    ptr(&y);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 1; // RACE a c
    y = 1; // RACE b d
    pthread_join(t, 0);
    return 0;
}
