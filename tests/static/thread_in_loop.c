// A creation in a loop makes many instances.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x++; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    return 0;
}
