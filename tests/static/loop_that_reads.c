// A loop that only reads is no waiting loop: its end does not depend on one place that another thread changes.
#include <pthread.h>

int table[100];

static void *thread(void *arg)
{
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += table[i]; // PAIR a
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    table[argc] = 1; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
