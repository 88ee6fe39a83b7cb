/*
 * hits.c - a tiny hit counter, as one finds it in many a server: requests come in on worker threads,
 * each is counted per page under a lock, and the grand total is kept beside it.
 *
 * Whoever added the total forgot that it is shared too. The program prints a plausible number every
 * time and the right number most times, which is why no test has caught it.
 */
#include <pthread.h>
#include <stdio.h>

#define WORKERS 2
#define REQUESTS 1000
#define PAGES 8

static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
static long hits[PAGES];
static long total;

static void count_hit(int page)
{
    pthread_mutex_lock(&pages_lock);
    hits[page]++;
    pthread_mutex_unlock(&pages_lock);
    total++;
}

static void *worker(void *arg)
{
    unsigned seed = (unsigned)(long)arg;

    for (int i = 0; i < REQUESTS; i++) {
        seed = seed * 1103515245 + 12345;
        count_hit((int)(seed >> 16) % PAGES);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];

    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d requests served, %ld counted\n", WORKERS * REQUESTS, total);
    return 0;
}
