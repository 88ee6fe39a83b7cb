// An index of bytes from the start of a structure, and then the distance of its array: optimised code swaps them.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct reply {
    long length;
    long *mine;
    char text[64];
    long *yours;
};
long x, y;

__attribute__((noinline)) static void end(struct reply *r)
{
    char *p = (char *)r + r->length;
    p[offsetof(struct reply, text)] = '\n'; // NO PAIR
}

static void *thread(void *arg)
{
    struct reply *r = arg;
    *r->mine = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct reply *r = calloc(1, sizeof *r);
    r->mine = &x;
    r->yours = &y;
    pthread_create(&t, NULL, thread, r);
    end(r);
    *r->yours = 2; // NO PAIR
    return pthread_join(t, NULL);
}
