/*
 * test_total.c - several threads submit. The sum is right, so the test passes with a plain compiler.
 */
#include <pthread.h>
#include <stddef.h>

#include "jobs.h"

static void *submit(void *arg)
{
    jobs_submit(5);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, submit, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return jobs_total() == 10 ? 0 : 1;
}
