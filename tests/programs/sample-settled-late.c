// While all threads are settled, releases are not followed. A thread that is created later where synchronisation is
// switched off, and so knows nothing of what its creator did, must not be taken for unordered by that.
// OPTIONS: sample=0%
// NO RACE
// TSAN: it does not sample
#include <sched.h>
#include <stdbool.h>

#include "invisible.h"

extern void dh_period_turn(bool on);
extern bool dh_period_settle(void);
extern void AnnotateIgnoreSyncBegin(const char *file, int line);
extern void AnnotateIgnoreSyncEnd(const char *file, int line);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, between = PTHREAD_MUTEX_INITIALIZER;
int data;

THREAD(child)
{
    pthread_mutex_lock(&m);
    dh_period_turn(true);
    use(data);
    dh_period_turn(false);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void exchange(pthread_mutex_t *with)
{
    pthread_mutex_lock(with);
    pthread_mutex_unlock(with);
}

THREAD(other) // without it the main thread would be alone, and nothing recorded
{
    after(1);
    exchange(&between);
    mark();
    after(3);
    return NULL;
}

int main(void)
{
    pthread_t o = spawn(other, NULL);
    dh_period_turn(true);
    data = 1;
    dh_period_turn(false);
    exchange(&between);
    mark();
    after(2);
    exchange(&between);
    while (!dh_period_settle()) // each knows what the other has done
        sched_yield();
    exchange(&m); // not followed
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    pthread_t t = spawn(child, NULL);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    join(t);
    mark();
    join(o);
    return 0;
}
