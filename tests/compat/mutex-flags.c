// Try, read and recursive locks: a failed attempt orders nothing, readers do not order each other, and only the last of several
// levels gives the lock up.
#include <sanitizer/tsan_interface.h>

#include "../programs/invisible.h"

char lock, rwlock, relock;
int failed, shared, written, level;

THREAD(first)
{
    failed = 1; // RACE f:write
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_pre_unlock(&lock, 0);
    __tsan_mutex_post_unlock(&lock, 0);

    __tsan_mutex_pre_lock(&rwlock, __tsan_mutex_read_lock);
    __tsan_mutex_post_lock(&rwlock, __tsan_mutex_read_lock, 0);
    shared = 1; // RACE s:write
    written = 1;
    __tsan_mutex_pre_unlock(&rwlock, __tsan_mutex_read_lock);
    __tsan_mutex_post_unlock(&rwlock, __tsan_mutex_read_lock);

    for (int i = 0; i < 2; i++) {
        __tsan_mutex_pre_lock(&relock, __tsan_mutex_write_reentrant);
        __tsan_mutex_post_lock(&relock, __tsan_mutex_write_reentrant, 0);
    }
    __tsan_mutex_pre_unlock(&relock, 0); /* one level is left */
    __tsan_mutex_post_unlock(&relock, 0);
    level = 1; // RACE l:write
    mark();
    after(2);
    __tsan_mutex_pre_lock(&relock, 0);
    __tsan_mutex_post_lock(&relock, 0, 0);
    MUST(__tsan_mutex_pre_unlock(&relock, __tsan_mutex_recursive_unlock) == 2);
    __tsan_mutex_post_unlock(&relock, 0);
    return NULL;
}

THREAD(second)
{
    after(1);
    __tsan_mutex_pre_lock(&lock, __tsan_mutex_try_lock);
    __tsan_mutex_post_lock(&lock, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0);
    use(failed); // RACE f:read

    __tsan_mutex_pre_lock(&rwlock, __tsan_mutex_try_read_lock);
    __tsan_mutex_post_lock(&rwlock, __tsan_mutex_try_read_lock, 0);
    use(shared); // RACE s:read
    __tsan_mutex_pre_unlock(&rwlock, __tsan_mutex_read_lock);
    __tsan_mutex_post_unlock(&rwlock, __tsan_mutex_read_lock);

    /* Not held here by anybody, for the detector: it learns what the last release published. */
    __tsan_mutex_pre_lock(&relock, 0);
    __tsan_mutex_post_lock(&relock, 0, 0);
    use(level); // RACE l:read
    __tsan_mutex_pre_unlock(&relock, 0);
    __tsan_mutex_post_unlock(&relock, 0);

    __tsan_mutex_pre_lock(&rwlock, 0);
    __tsan_mutex_post_lock(&rwlock, 0, 0);
    use(written);
    __tsan_mutex_pre_unlock(&rwlock, 0);
    __tsan_mutex_post_unlock(&rwlock, 0);
    mark();
    return NULL;
}

int main(void)
{
    __tsan_mutex_create(&relock, __tsan_mutex_write_reentrant);
    both(first, second);
    return 0;
}
