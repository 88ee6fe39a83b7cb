// Copying a structure reads and writes all of it, and copies the pointers in it.
#include <pthread.h>

struct item {
    long a, b, c, d, e;
    int *target;
};
struct item source, copy;
int x;

static void *thread(void *arg)
{
    copy = source;    // PAIR a
    *copy.target = 1; // PAIR b
    return NULL;
}

int main(void)
{
    pthread_t t;
    source.target = &x; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    source.c = 2; // PAIR a
    x = 2;        // PAIR b
    pthread_join(t, NULL);
    return 0;
}
