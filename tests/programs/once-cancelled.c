// A routine that was cancelled half-way is run again by another thread, after the first attempt: pthread_once
// lets in one at a time. What it had counted by then is counted on.
// NO RACE
// TSAN: it hangs, since its pthread_once does not survive a cancellation
#include <semaphore.h>

#include "invisible.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t never;
static int attempts, table[8];

static void fill(void)
{
    attempts++;
    for (int i = 0; i < 8; i++) {
        table[i] = i;
        if (i == 4 && attempts == 1) {
            mark();
            sem_wait(&never);
        }
    }
}

THREAD(cancelled)
{
    pthread_once(&once, fill);
    return NULL;
}

THREAD(other)
{
    after(2); /* the first one is inside, and has been told */
    pthread_once(&once, fill);
    for (int i = 0; i < 8; i++)
        MUST(table[i] == i);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    sem_init(&never, 0, 0);
    a = spawn(cancelled, NULL);
    b = spawn(other, NULL);
    after(1);
    MUST(pthread_cancel(a) == 0);
    mark();
    join(b);
    MUST(attempts == 2);
    MUST(join(a) == PTHREAD_CANCELED);
    return 0;
}
