// A write after the post is not covered by it.
#include <semaphore.h>

#include "invisible.h"

sem_t s;
int early, late;

THREAD(poster)
{
    early = 1;
    sem_post(&s);
    late = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(waiter)
{
    sem_wait(&s);
    after(1);
    use(early);
    use(late); // RACE a:read
    return NULL;
}

int main(void)
{
    sem_init(&s, 0, 0);
    both(poster, waiter);
    return 0;
}
