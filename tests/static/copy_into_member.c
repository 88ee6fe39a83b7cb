// What is copied from somewhere in a buffer into a member goes into that member, not into those around it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct request {
    long *before;
    long *head[2];
    long *behind;
};
long x, y, z;
static char *cursor;

static void *thread(void *arg)
{
    struct request *r = arg;
    *r->before = 1;  // NO PAIR
    *r->behind = 1;  // NO PAIR
    *r->head[1] = 1; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct request *r = calloc(1, sizeof *r);
    cursor = (char *)malloc(4096) + argc;
    *(long **)cursor = &z;
    r->before = &x;
    r->behind = &y;
    memcpy(r->head, cursor, sizeof r->head);
    pthread_create(&t, NULL, thread, r);
    z = 2; // PAIR a
    return pthread_join(t, NULL);
}
