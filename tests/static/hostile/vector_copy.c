// Two pointers that the compiler copies as one vector.
#include <pthread.h>

struct two {
    int *a, *b;
};
int x, y;

struct two src = {&x, &y}, dst;

static void *f(void *p)
{
    *dst.b = 1; // RACE a
    return p;
}

int main(void)
{
    dst.a = src.a;
    dst.b = src.b;
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    y = 2; // RACE a
    pthread_join(t, 0);
    return 0;
}
