/*
 * prog.c - a program with a few possible races, for tests of the hive. With -DLATER it is a later version of
 * itself, in which everything is at other lines, and the function miss has others inside.
 */
#include <pthread.h>
#include <stdio.h>

int hits, misses, total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef LATER
#line 31
#endif
static void count(int n)
{
    hits += n;
    pthread_mutex_lock(&lock);
    total += n;
    pthread_mutex_unlock(&lock);
}
static void miss(int n)
{
#ifdef LATER
#line 50
#endif
    misses += n;
}

static void *work(void *arg)
{
    count(*(int *)arg);
    miss(*(int *)arg);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    (void)argv;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, &argc);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d %d %d\n", hits, misses, total);
    return 0;
}
