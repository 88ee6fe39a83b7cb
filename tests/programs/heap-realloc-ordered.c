// A block that several threads grow and shrink under a lock: small ones move by copying, large ones by moving
// pages, and others get the memory they leave behind.
// NO RACE
#include <malloc.h>

#include "invisible.h"

enum { THREADS = 3, STEPS = 12 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *block;
static size_t size;

static size_t wanted(int step)
{
    static const size_t sizes[STEPS] = {10,     200,    5000,   100, 300000, 700000,
                                        150000, 900000, 900001, 64,  130000, 1};

    return sizes[step];
}

THREAD(worker)
{
    for (int step = 0; step < STEPS; step++) {
        size_t n = wanted(step);
        char *own;

        pthread_mutex_lock(&m);
        block = realloc(block, n);
        MUST(block && (size == 0 || block[0] == 1));
        size = n;
        block[0] = block[n / 2] = block[n - 1] = 1;
        pthread_mutex_unlock(&m);
        own = malloc(n);
        own[0] = own[n / 2] = own[n - 1] = 2;
        free(own);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < THREADS; i++)
        t[i] = spawn(worker, NULL);
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    free(block);
    return 0;
}
