// As many as a variable says. The compiler jumps over the second loop if there are none.
#include <pthread.h>

int x, y, n;

static void *thread(void *arg)
{
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); // PAIR a:sound
    y++;                                         // PAIR b
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[64];
    n = argc;
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    return x; // PAIR a
}
