/*
 * racy.c [SEED [LOG]] - two threads that race on one variable, meet at the same time, and use another one with a lock. With a
 * log, who ran it, with which seed, is appended there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int racy;
int locked;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *work(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        racy++; /* RACE */
        pthread_mutex_lock(&mutex);
        locked++;
        pthread_mutex_unlock(&mutex);
        usleep(1000);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    FILE *log = argc > 2 ? fopen(argv[2], "a") : NULL;
    rounds = 20 + (argc > 1 ? atoi(argv[1]) % 20 : 0);
    if (log) {
        fprintf(log, "%s\n", argv[1]);
        fclose(log);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d %d\n", racy, locked);
    return 0;
}
