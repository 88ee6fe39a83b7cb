// An access goes as far as its size says: into the members behind the one where it begins.
#include <pthread.h>
#include <string.h>

struct record {
    int first, second, third;
    long fourth;
    short fifth, sixth;
} record;
typedef long loose __attribute__((aligned(4), may_alias));
typedef long vector __attribute__((vector_size(16), aligned(4), may_alias));

static void *wide(void *arg)
{
    *(volatile loose *)&record.second = 1;               // PAIR a g
    *(volatile vector *)&record.second = (vector){1, 2}; // PAIR b c h
    return arg;
}

static void *narrow(void *arg)
{
    record.first = 1;  // PAIR f
    record.third = 1;  // PAIR a b d
    record.fourth = 1; // PAIR c e
    record.sixth = 1;  // NO PAIR
    return arg;
}

static void *copies(void *arg)
{
    struct record *r = arg;
    if (r->first == 0)            // PAIR f
        memset(&r->third, 0, 12); // PAIR d e g h
    return arg;
}

int main(void)
{
    pthread_t t, u, v;
    pthread_create(&t, NULL, wide, NULL);
    pthread_create(&u, NULL, narrow, NULL);
    pthread_create(&v, NULL, copies, &record);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return pthread_join(v, NULL);
}
