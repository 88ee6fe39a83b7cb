// A semaphore that counts to one is a mutex, and one that another thread may unlock: the first thread takes
// it and hands what it guards to the second, who gives it back; the third takes it again.
// NO RACE
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "invisible.h"

static sem_t one;
static atomic_int handed;
static int guarded;

THREAD(takes)
{
    MUST(sem_wait(&one) == 0);
    guarded++;
    sem_post(&one);
    MUST(sem_trywait(&one) == 0);
    guarded++;
    atomic_store_explicit(&handed, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(gives_back)
{
    after(1);
    MUST(atomic_load_explicit(&handed, memory_order_acquire) == 1);
    guarded++;
    MUST(sem_post(&one) == 0);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    sem_init(&one, 0, 1);
    a = spawn(takes, NULL);
    b = spawn(gives_back, NULL);
    after(2);
    MUST(sem_wait(&one) == 0);
    MUST(guarded++ == 3);
    MUST(sem_trywait(&one) == -1 && errno == EAGAIN);
    join(a);
    join(b);
    return 0;
}
