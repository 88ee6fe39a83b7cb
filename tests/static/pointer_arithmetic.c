// A pointer that moves through a structure, byte by byte.
#include <pthread.h>
#include <stddef.h>

struct record {
    int head;
    int body[4];
    int tail;
} r;

static void *thread(void *arg)
{
    char *p = (char *)&r;
    *(int *)(p + offsetof(struct record, tail)) = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    r.head = 2; // NO PAIR
    r.tail = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
