// FLAGS -O0
// Arrays that global pointers lead to, set before there are threads: read again and again, they are one value. Each thread has
// an element of one, by the number that it is given, and of the other each element has its own lock.
#include <pthread.h>
#include <stdlib.h>

struct slot {
    pthread_mutex_t lock;
    int count;
} *slots;
int *data, n;
pthread_t *threads;
pthread_mutex_t *locks;

static void add(int i)
{
    pthread_mutex_lock(&slots[i].lock);
    slots[i].count++; // NO PAIR
    pthread_mutex_unlock(&slots[i].lock);
}

static void *thread(void *arg)
{
    int i = (int)(long)arg;
    data[i] = i; // NO PAIR
    add(rand() % 4);
    pthread_mutex_lock(&slots[3].lock);
    slots[3].count = 0; // NO PAIR
    pthread_mutex_unlock(&slots[3].lock);
    return NULL;
}

static void make(void)
{
    slots = calloc(4, sizeof *slots);
    for (int i = 0; i < 4; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
}

int main(int argc, char **argv)
{
    make();
    n = argc;
    data = malloc((size_t)n * sizeof *data);
    threads = malloc((size_t)n * sizeof *threads);
    for (int i = 0; i < n; i++)
        data[i] = -1; // NO PAIR
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, thread, (void *)(long)i);
    add(argc);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(data);            // NO PAIR
    return slots[0].count; // NO PAIR
}
