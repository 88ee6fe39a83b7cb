// Members of one type side by side are used as an array, though they are none.
#include <pthread.h>
#include <stdlib.h>

struct body {
    long name;
    double x, y, z;
    long *mine, *yours;
};
long p, q;

__attribute__((noinline)) static void scale(double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] = 2; // PAIR a
}

static void *thread(void *arg)
{
    struct body *b = arg;
    b->z = 1;     // PAIR a
    *b->mine = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct body *b = calloc(1, sizeof *b);
    b->mine = &p;
    b->yours = &q;
    pthread_create(&t, NULL, thread, b);
    scale(&b->x, argc);
    *b->yours = 2; // NO PAIR
    return pthread_join(t, NULL);
}
