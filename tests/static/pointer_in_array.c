// Pointers in an array: each may be any.
#include <pthread.h>

int x, y, z;
int *all[] = {&x, &y};

static void *thread(void *arg)
{
    *all[(long)arg & 1] = 1; // PAIR a b
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    x = 2; // PAIR a
    y = 2; // PAIR b
    z = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
