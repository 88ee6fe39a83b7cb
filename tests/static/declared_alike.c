// Structures that begin with the same members are used as each other.
// FLAGS -O1 -fno-strict-aliasing
#include <pthread.h>
#include <stdlib.h>

struct any {
    long kind, users;
    long rest[2];
};
struct thing {
    long kind, users;
    char name[40];
};

static void *thread(void *arg)
{
    struct any *a = arg;
    a->users = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct thing *h = malloc(sizeof *h);
    pthread_create(&t, NULL, thread, h);
    h->users = 2; // PAIR a
    return pthread_join(t, NULL);
}
