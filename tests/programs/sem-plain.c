// A post happens before the wait it lets through; also with trywait, timedwait and clockwait.
// NO RACE
// FLAGS: -D_GNU_SOURCE
// TSAN: it does not know sem_clockwait
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include "invisible.h"

sem_t there, back;
int x;
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

THREAD(poster)
{
    for (int i = 0; i < 4; i++) {
        x = i;
        sem_post(&there);
        mark();
        sem_wait(&back);
    }
    return NULL;
}

THREAD(waiter)
{
    MUST(sem_wait(&there) == 0);
    MUST(x++ == 0);
    MUST(sem_trywait(&there) == -1 && errno == EAGAIN);
    MUST(sem_timedwait(&there, &past) == -1 && errno == ETIMEDOUT);
    sem_post(&back);
    after(2);
    MUST(sem_trywait(&there) == 0);
    MUST(x++ == 1);
    sem_post(&back);
    MUST(sem_timedwait(&there, &far_away) == 0);
    MUST(x++ == 2);
    sem_post(&back);
    MUST(sem_clockwait(&there, CLOCK_MONOTONIC, &far_away) == 0);
    MUST(x++ == 3);
    sem_post(&back);
    return NULL;
}

int main(void)
{
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    both(poster, waiter);
    sem_destroy(&there);
    sem_destroy(&back);
    return 0;
}
