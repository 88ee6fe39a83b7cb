// A semaphore with a count: a wait comes after the posts before it, so two waits come after both posters.
// NO RACE
#include <semaphore.h>

#include "invisible.h"

sem_t s;
int a, b;

THREAD(first)
{
    a = 1;
    sem_post(&s);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    b = 1;
    sem_post(&s);
    return NULL;
}

int main(void)
{
    pthread_t one, two;

    sem_init(&s, 0, 0);
    one = spawn(first, NULL);
    two = spawn(second, NULL);
    sem_wait(&s);
    sem_wait(&s);
    MUST(a + b == 2);
    a = b = 0;
    join(one);
    join(two);
    return 0;
}
