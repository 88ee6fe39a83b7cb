/*
 * bench2.c - RaceMob (SOSP 2013), figure 7, from its caption: an accidental order through a third thread. T0
 * writes x and signals; T3 waits for that and takes a lock; T2, which sleeps long, takes the lock after it
 * and writes x. The signal and the lock order the two writes, though T2 waits for neither.
 */
#include "../program.h"

static pthread_mutex_t signal_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static int ready;  /* signal_lock */
static int passes; /* lock */
static int x;

static void pass(void)
{
    pthread_mutex_lock(&lock);
    passes++;
    pthread_mutex_unlock(&lock);
}

THREAD(t0)
{
    x = 1; // RACE x
    pthread_mutex_lock(&signal_lock);
    ready = 1;
    pthread_cond_signal(&signalled);
    pthread_mutex_unlock(&signal_lock);
    return NULL;
}

THREAD(t2)
{
    after(1);
    pass();
    x = 2; // RACE x
    return NULL;
}

THREAD(t3)
{
    pthread_mutex_lock(&signal_lock);
    while (!ready)
        pthread_cond_wait(&signalled, &signal_lock);
    pthread_mutex_unlock(&signal_lock);
    pass();
    mark();
    return NULL;
}

int main(void)
{
    pthread_t waiting = spawn(t3, NULL);

    both(t0, t2);
    join(waiting);
    use(x);
    printf("bench2: %d passes\n", passes);
    return 0;
}
