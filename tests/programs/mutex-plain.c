// The ordinary case: one lock, one variable, two threads, many turns.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long count;

THREAD(worker)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 2000);
    return 0;
}
