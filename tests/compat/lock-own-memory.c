// Locks that only annotations know. What an owner stores in the lock itself is ordered by the lock, although its use is checked
// before that; and a lock of one byte has nothing to do with its neighbours.
// NO RACE
#include <sanitizer/tsan_interface.h>
#include <valgrind/helgrind.h>

#include "../programs/invisible.h"

void AnnotateRWLockCreate(const char *file, int line, const volatile void *p);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *p, long w);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *p, long w);
#define HERE __FILE__, __LINE__

struct lock {
    int owner;
    int protected;
};

static struct lock own, annotated, helgrind;
static struct {
    char lock, neighbour;
} bytes;

static void enter_own(int me)
{
    __tsan_mutex_pre_lock(&own, 0);
    __tsan_mutex_post_lock(&own, 0, 0);
    own.owner = me;
}

static void leave_own(void)
{
    own.owner = 0;
    __tsan_mutex_pre_unlock(&own, 0);
    __tsan_mutex_post_unlock(&own, 0);
}

static void lock_all(int me)
{
    enter_own(me);
    own.protected ++;
    leave_own();
    AnnotateRWLockAcquired(HERE, &annotated, 1);
    annotated.owner = me;
    annotated.protected ++;
    AnnotateRWLockReleased(HERE, &annotated, 1);
    VALGRIND_HG_MUTEX_LOCK_POST(&helgrind);
    helgrind.owner = me;
    helgrind.protected ++;
    VALGRIND_HG_MUTEX_UNLOCK_PRE(&helgrind);
}

THREAD(first)
{
    lock_all(1);
    bytes.neighbour = 1;
    enter_own(1);
    mark();
    after(2);
    leave_own();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    __tsan_mutex_pre_lock(&own, __tsan_mutex_try_lock); /* the other one has it */
    __tsan_mutex_post_lock(&own, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0);
    __tsan_mutex_pre_lock(&bytes.lock, 0);
    __tsan_mutex_post_lock(&bytes.lock, 0, 0);
    __tsan_mutex_pre_unlock(&bytes.lock, 0);
    __tsan_mutex_post_unlock(&bytes.lock, 0);
    mark();
    after(3);
    lock_all(2);
    return NULL;
}

int main(void)
{
    __tsan_mutex_create(&own, 0);
    AnnotateRWLockCreate(HERE, &annotated);
    VALGRIND_HG_MUTEX_INIT_POST(&helgrind, 0);
    __tsan_mutex_create(&bytes.lock, 0);
    both(first, second);
    return 0;
}
