// Created and joined in each round of a loop: never two at once.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x++; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}
