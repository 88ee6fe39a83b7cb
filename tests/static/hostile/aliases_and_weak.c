// One object, or one function, by two names.
#include <pthread.h>
int real_x;
extern int other_x __attribute__((alias("real_x")));

static int arr[4];
extern int view[4] __attribute__((alias("arr")));

void real_f(int *p)
{
    ++*p; // RACE a
}

void weak_f(int *) __attribute__((weak, alias("real_f")));

__attribute__((weak)) void maybe(int *p)
{
    *p = 3;
}

__attribute__((weak)) extern void never(int *);
int y;

static void *f(void *p)
{
    weak_f(&y);
    maybe(&y);
    other_x = 2; // RACE b
    view[1] = 3; // RACE c
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    y = 1;      // RACE a
    real_x = 1; // RACE b
    arr[1] = 4; // RACE c
    if (never)
        never(&y);
    pthread_join(t, 0);
    return 0;
}
