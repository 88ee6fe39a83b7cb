// A lock of the program's own, in assembly, announced by the mutex annotations: what it protects does not race,
// nor does what the implementation itself does between pre and post.
#include <sanitizer/tsan_interface.h>

#include "../programs/invisible.h"

struct lock {
    int taken;
    int statistics; /* by nobody protected */
} lock;
int data, divert, bare;

static void lock_it(struct lock *l)
{
    int busy = 1;

    __tsan_mutex_pre_lock(l, __tsan_mutex_not_static);
    while (busy)
        __asm__ volatile("xchgl %0, %1" : "+r"(busy), "+m"(l->taken) : : "memory");
    l->statistics++;
    __tsan_mutex_post_lock(l, __tsan_mutex_not_static, 0);
}

static void unlock_it(struct lock *l, int diverts)
{
    __tsan_mutex_pre_unlock(l, 0);
    l->statistics++;
    __tsan_mutex_pre_divert(l, 0);
    if (diverts)
        divert = 1; // RACE d:write
    __tsan_mutex_post_divert(l, 0);
    __asm__ volatile("movl $0, %0" : "=m"(l->taken) : : "memory");
    l->statistics++;
    __tsan_mutex_post_unlock(l, 0);
    __tsan_mutex_pre_signal(l, 0);
    l->statistics++;
    __tsan_mutex_post_signal(l, 0);
}

THREAD(first)
{
    lock_it(&lock);
    data++;
    unlock_it(&lock, 1);
    bare = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    bare = 2;    // RACE b:write
    use(divert); // RACE d:read
    lock_it(&lock);
    data++;
    unlock_it(&lock, 0);
    return NULL;
}

int main(void)
{
    __tsan_mutex_create(&lock, 0);
    both(first, second);
    __tsan_mutex_destroy(&lock, 0);
    return 0;
}
