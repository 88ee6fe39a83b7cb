// getline writes into the buffer it is given the address of, or into a new one.
#include <pthread.h>
#include <stdio.h>

char *line;
size_t size;
int last;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    getdelim(&line, &size, '\n', stdin); // PAIR a
    char *text = line;                   // NO PAIR
    pthread_mutex_unlock(&m);
    last = text[0]; // PAIR a b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
