// stdio calls functions that it was given in a structure, when somebody reads.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *io;
int x;

static ssize_t rd(void *c, char *b, size_t n)
{
    ++*(int *)c; // RACE a:sound
    (void)n;
    b[0] = 'a';
    return 1;
}

static void *f(void *a)
{
    x = 3; // RACE a
    return a;
}

int main(void)
{
    cookie_io_functions_t fn = {.read = rd};
    io = fopencookie(&x, "r", fn);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    getc(io);
    pthread_join(t, 0);
    return 0;
}
