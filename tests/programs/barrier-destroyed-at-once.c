// The thread that was told it is the last one destroys the barrier and uses its memory for something else,
// while the others may still be on their way out of it; another barrier with another count is made there.
// NO RACE
// TSAN: it takes destroying a barrier for a race with those who leave it
#include <string.h>

#include "invisible.h"

enum { THREADS = 4, ROUNDS = 20 };
static pthread_barrier_t *gate, *meeting;
static int data[THREADS];

THREAD(worker)
{
    int me = (int)(long)arg;

    for (int round = 0; round < ROUNDS; round++) {
        data[me] = round;
        if (pthread_barrier_wait(gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
            pthread_barrier_destroy(gate);
            memset(gate, 0xff, sizeof *gate);
            free(gate);
            gate = malloc(sizeof *gate);
            pthread_barrier_init(gate, NULL, THREADS);
        }
        for (int i = 0; i < THREADS; i++)
            MUST(data[i] == round);
        pthread_barrier_wait(meeting);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    gate = malloc(sizeof *gate);
    meeting = malloc(sizeof *meeting);
    pthread_barrier_init(gate, NULL, THREADS);
    pthread_barrier_init(meeting, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        t[i] = spawn(worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    free(gate);
    free(meeting);
    return 0;
}
