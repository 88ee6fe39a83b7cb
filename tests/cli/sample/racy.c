/*
 * racy.c - two threads that race on one variable again and again, for some time, and hand another to each other
 * under a lock. With an argument: without the race.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int racy;
static int locked, quiet;

static void *body(void *unused)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 1000; i++) {
            if (!quiet)
                racy++;
            pthread_mutex_lock(&m);
            locked++;
            pthread_mutex_unlock(&m);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9 < 1.0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argv;
    quiet = argc > 1;
    pthread_create(&a, NULL, body, NULL);
    pthread_create(&b, NULL, body, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
