// pthread spin locks, lock and trylock.
// NO RACE
#include <errno.h>

#include "invisible.h"

pthread_spinlock_t s;
long count;

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        if (i % 2 == 0 || pthread_spin_trylock(&s) == EBUSY)
            pthread_spin_lock(&s);
        count++;
        pthread_spin_unlock(&s);
    }
    return NULL;
}

int main(void)
{
    pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
    both(worker, worker);
    pthread_spin_destroy(&s);
    MUST(count == 200);
    return 0;
}
