/*
 * bbuffer.c - producers and consumers share a bounded buffer, correctly; they keep their statistics without a
 * lock.
 *
 * Comparison paper, table 2 (334 lines, 4 threads): 2 for FastTrack, AccuLock, SimpleLock+, MultiLock-HB and
 * CP.
 *
 * Real: `started`, which every thread raises as it begins, and `moved`, to which it adds its items as it
 * ends.
 *
 * Detectors: all find both. The buffer itself is touched under its lock only, so none reports it; waiting and
 * signalling order nothing that matters here, since one race comes before the first of them, the other after
 * the last.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: bbuffer: 8000 items, sum a4fc3d83a70ad799
#include "program.h"

enum { SIZE = 64, ITEMS = 8000, WORK = 180 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static uint64_t buffer[SIZE]; /* these four: lock */
static int in, out, count;
static long taken;
static long started, moved;
static uint64_t sums[MAX_THREADS]; /* one a consumer */
static int producers, consumers;

static void put(uint64_t item)
{
    pthread_mutex_lock(&lock);
    while (count == SIZE)
        pthread_cond_wait(&not_full, &lock);
    buffer[in] = item;
    in = (in + 1) % SIZE;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

/* False when all items have been taken. */
static int take(uint64_t *ret_item)
{
    int got;

    pthread_mutex_lock(&lock);
    while (count == 0 && taken < ITEMS)
        pthread_cond_wait(&not_empty, &lock);
    got = count > 0;
    if (got) {
        *ret_item = buffer[out];
        out = (out + 1) % SIZE;
        count--;
        taken++;
        pthread_cond_signal(&not_full);
        if (taken == ITEMS)
            pthread_cond_broadcast(&not_empty);
    }
    pthread_mutex_unlock(&lock);
    return got;
}

static long produce(int me)
{
    long first = part(ITEMS, me, producers), end = part(ITEMS, me + 1, producers);

    for (long i = first; i < end; i++)
        put(churn((uint64_t)i, (long)WORK * scale));
    return end - first;
}

static long consume(int me)
{
    uint64_t item, sum = 0;
    long got = 0;

    for (; take(&item); got++)
        sum += churn(item, (long)WORK * scale);
    sums[me] = sum;
    return got;
}

THREAD(worker)
{
    int me = ME, all = producers + consumers;
    long mine;

    after(me);
    started++; // RACE a
    mark();
    mine = me < producers ? produce(me) : consume(me - producers);
    mark();
    after(2 * all + me);
    moved += mine; // RACE b
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    arguments(argc, argv);
    producers = threads > 1 ? threads / 2 : 1;
    consumers = threads > 1 ? threads - producers : 1;
    team(producers + consumers, worker);
    for (int i = 0; i < consumers; i++)
        sum += sums[i];
    MUST(started == producers + consumers && moved == 2 * ITEMS);
    printf("bbuffer: %d items, sum %" PRIx64 "\n", ITEMS, sum);
    return 0;
}
