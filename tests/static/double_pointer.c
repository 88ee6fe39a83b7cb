// A pointer to a pointer.
#include <pthread.h>

int x, y;
int *to = &x;

static void *thread(void *arg)
{
    int **pp = arg;
    **pp = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, &to);
    x = 2; // PAIR a
    y = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
