// Memory that is used atomically by many and plainly by one, before the others are there and after they are
// gone: set by memset, summed up plainly, copied as a struct, freed.
// NO RACE
#include <stdatomic.h>
#include <string.h>

#include "invisible.h"

enum { THREADS = 4, COUNTERS = 6 };
struct counters {
    atomic_long value[COUNTERS];
};

THREAD(counts)
{
    struct counters *c = arg;

    for (int i = 0; i < 60; i++)
        atomic_fetch_add_explicit(&c->value[i % COUNTERS], i, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    long plain[COUNTERS], total = 0;

    for (int round = 0; round < 5; round++) {
        struct counters *c = malloc(sizeof *c);
        pthread_t t[THREADS];

        memset(c, 0, sizeof *c);
        for (int i = 0; i < THREADS; i++)
            t[i] = spawn(counts, c);
        for (int i = 0; i < THREADS; i++)
            join(t[i]);
        memcpy(plain, c, sizeof plain);
        for (int i = 0; i < COUNTERS; i++)
            total += plain[i] + (((volatile long *)c)[i] = 0);
        free(c);
    }
    MUST(total == 5 * THREADS * 59 * 30);
    return 0;
}
