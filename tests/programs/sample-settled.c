// Between two periods a thread that knows all that was recorded is settled: it looks at nothing, and when all threads
// are, synchronisation is not followed either. A thread that does not know all is not, and finds its race; and with the
// next period everything is recorded and followed again.
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "invisible.h"

extern bool dh_period_on; // false in a recording, in which nothing settles
extern void dh_period_turn(bool on);
extern bool dh_period_settle(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int flag;
int unknown, known, later, later_read, followed, by_flag, inherited;
char filled[4096];

// All there are: a main thread that only waits would count as well, until it does.
static void all_settle(void)
{
    while (dh_period_on && !dh_period_settle())
        sched_yield();
}

static void not_all_settle(void)
{
    if (dh_period_settle())
        abort();
}

static void exchange(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}

THREAD(third) // it is created while all are settled, and so is it
{
    all_settle();
    inherited = 2;
    all_settle();
    return NULL;
}

THREAD(first)
{
    all_settle(); // nothing was recorded yet
    dh_period_turn(true);
    not_all_settle(); // nobody is in a period
    unknown = 1;      // RACE a:write
    known = 1;
    inherited = 1;
    memset(filled, 1, sizeof(filled));
    dh_period_turn(false);
    not_all_settle();
    mark();
    after(2);
    not_all_settle(); // the other does not know
    exchange();
    mark();
    after(4);
    exchange();
    all_settle();
    known = 2;
    memset(filled, 2, sizeof(filled));
    join(spawn(third, NULL));
    atomic_store_explicit(&flag, 1, memory_order_release);
    exchange(); // not followed
    dh_period_turn(true);
    later = 1;       // RACE b:write
    use(later_read); // RACE c:read
    followed = 1;
    exchange();
    by_flag = 1;
    atomic_store_explicit(&flag, 2, memory_order_release);
    dh_period_turn(false);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(unknown); // RACE a:read
    mark();
    after(3);
    exchange();
    known = 3;
    use(filled[100]);
    mark();
    after(5);
    later = 2;      // RACE b:write
    later_read = 2; // RACE c:write
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2)
        use(by_flag);
    exchange();
    use(followed + known + filled[200]);
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(second, NULL);
    first(NULL);
    join(t);
    return 0;
}
