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

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
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

THREAD(first)
{
    dh_period_turn(true);
    data = 1;
    dh_period_turn(false);
    while (!dh_period_settle()) // main waits for it, and there is no other
        sched_yield();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m); // not followed
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    pthread_t t = spawn(child, NULL);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    join(t);
    return NULL;
}

int main(void)
{
    join(spawn(first, NULL));
    return 0;
}
