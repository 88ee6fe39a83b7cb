// A timer starts a thread with the function in its struct sigevent.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static sem_t done;
int x;

static void fire(union sigval v)
{
    ++*(int *)v.sival_ptr; // RACE a b
    sem_post(&done);
}

int main(void)
{
    struct sigevent e;
    memset(&e, 0, sizeof e);
    e.sigev_notify = SIGEV_THREAD;
    e.sigev_notify_function = fire;
    e.sigev_value.sival_ptr = &x;
    timer_t t;
    if (timer_create(CLOCK_MONOTONIC, &e, &t))
        return 0;
    sem_init(&done, 0, 0);
    struct itimerspec s = {{0, 0}, {0, 1000000}};
    timer_settime(t, 0, &s, 0);
    x = 2; // RACE b
    sem_wait(&done);
    return 0;
}
