// An untracked function's callees are still looked at, and synchronisation inside it still counts.
// TSAN: it does not know the attribute
#include <deadheat/deadheat.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int guarded, loose, skipped;

__attribute__((noinline)) static void touch(void)
{
    loose++; // RACE a
}

DH_UNTRACKED static void enter(void)
{
    pthread_mutex_lock(&m);
    skipped++;
}

DH_UNTRACKED static void leave(void)
{
    pthread_mutex_unlock(&m);
    skipped++;
    touch();
}

THREAD(worker)
{
    after(*(int *)arg);
    enter();
    guarded++;
    leave();
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
