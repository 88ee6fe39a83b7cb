// Pointers in a structure that is returned in registers, taken out by index.
#include <pthread.h>
#include <stdlib.h>
typedef struct {
    int *a[2];
} pair;
int x, y;

static pair mk(void)
{
    return (pair){{&x, &y}};
}

static void *f(void *a)
{
    pair p = mk();
    int *sel = *(&p.a[0] + ((long)a & 1));
    *sel = 2; // RACE a
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, (void *)1);
    x = 1;
    y = 1; // RACE a
    pthread_join(t, 0);
    return 0;
}
