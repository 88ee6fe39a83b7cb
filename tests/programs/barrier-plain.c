// What each thread wrote before the barrier, every thread may read after it; one of them is the serial one.
// NO RACE
#include "invisible.h"

pthread_barrier_t b;
int cells[4], sums[4], serial;

THREAD(worker)
{
    long me = (long)arg;

    for (int round = 0; round < 20; round++) {
        int rc;

        cells[me] = round;
        rc = pthread_barrier_wait(&b);
        MUST(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
        if (rc == PTHREAD_BARRIER_SERIAL_THREAD)
            serial++;
        for (int i = 0; i < 4; i++)
            sums[me] += cells[i];
        pthread_barrier_wait(&b);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    pthread_barrier_init(&b, NULL, 4);
    for (long i = 0; i < 4; i++)
        t[i] = spawn(worker, (void *)i);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    pthread_barrier_destroy(&b);
    MUST(serial == 20 && sums[0] == 760);
    return 0;
}
