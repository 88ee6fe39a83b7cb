// A function that starts threads, with a block for what each is to do: another thread, and another block, for each call.
#include <pthread.h>
#include <stdlib.h>

struct job {
    void (*run)(int *);
    int *where;
};
int x, y;

static void add(int *p)
{
    ++*p; // NO PAIR
}

static void drop(int *p)
{
    --*p; // NO PAIR
}

static void *begin(void *arg)
{
    struct job *j = arg;
    j->run(j->where);
    free(j); // NO PAIR
    return NULL;
}

__attribute__((noinline)) static int start(pthread_t *t, void (*run)(int *), int *where)
{
    struct job *j = malloc(sizeof *j);
    j->run = run;     // NO PAIR
    j->where = where; // NO PAIR
    return pthread_create(t, NULL, begin, j);
}

int main(void)
{
    pthread_t a, b;
    start(&a, add, &x);
    start(&b, drop, &y);
    pthread_join(a, NULL);
    x++; // NO PAIR
    pthread_join(b, NULL);
    return y; // NO PAIR
}
