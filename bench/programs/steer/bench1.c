/*
 * bench1.c - RaceMob (SOSP 2013), figure 1: an accidental order. Two threads write x without a lock, and both
 * also take a lock that has nothing to do with it. In the order in which they always come, the first gives
 * the lock back before the second takes it: that orders the two writes, and no precise detector sees the
 * race.
 */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int passes; /* lock */
static int x;

static void pass(void)
{
    pthread_mutex_lock(&lock);
    passes++;
    pthread_mutex_unlock(&lock);
}

THREAD(early)
{
    x = 1; // RACE x
    pass();
    mark();
    return NULL;
}

THREAD(late)
{
    after(1);
    pass();
    x = 2; // RACE x
    return NULL;
}

int main(void)
{
    both(early, late);
    use(x);
    printf("bench1: %d passes\n", passes);
    return 0;
}
