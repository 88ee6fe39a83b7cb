// A table of functions with their arguments.
#include <pthread.h>

struct op {
    const char *name;
    void (*run)(void *);
    void *arg;
};
int a, b;

static void inc(void *p)
{
    ++*(int *)p; // RACE a
}

static void set(void *p)
{
    *(int *)p = 7; // RACE b
}

static struct op table[] = {{"inc", inc, &a}, {"set", set, &b}, {"x", 0, 0}};

static void *f(void *p)
{
    for (struct op *o = table; o->run; o++)
        o->run(o->arg);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    a = 1; // RACE a
    b = 2; // RACE b
    pthread_join(t, 0);
    return 0;
}
