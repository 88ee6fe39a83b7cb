// Locks known by annotations, created while the program runs: they order what they protect, but not their own creation.
#include <sanitizer/tsan_interface.h>
#include <valgrind/helgrind.h>

#include "../programs/invisible.h"

void AnnotateRWLockCreate(const char *file, int line, const volatile void *p);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *p, long w);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *p, long w);
#define HERE __FILE__, __LINE__

static long own, tried, annotated, helgrind, known; /* each in a word of its own */
static int under_own, under_annotated, under_helgrind, under_known;

static void lock_own(long *lock)
{
    __tsan_mutex_pre_lock(lock, 0);
    __tsan_mutex_post_lock(lock, 0, 0); // RACE a:read
}

static void unlock_own(long *lock)
{
    __tsan_mutex_pre_unlock(lock, 0);
    __tsan_mutex_post_unlock(lock, 0);
}

static void try_in_vain(long *lock)
{
    __tsan_mutex_pre_lock(lock, __tsan_mutex_try_lock);
    __tsan_mutex_post_lock(lock, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0); // RACE b:read
}

THREAD(maker)
{
    __tsan_mutex_create(&own, 0); // RACE a:write
    lock_own(&own);
    under_own++;
    unlock_own(&own);
    __tsan_mutex_create(&tried, 0);         // RACE b:write
    AnnotateRWLockCreate(HERE, &annotated); // RACE c:write
    AnnotateRWLockAcquired(HERE, &annotated, 1);
    under_annotated++;
    AnnotateRWLockReleased(HERE, &annotated, 1);
    VALGRIND_HG_MUTEX_INIT_POST(&helgrind, 0); // RACE d:write
    VALGRIND_HG_MUTEX_LOCK_POST(&helgrind);
    under_helgrind++;
    VALGRIND_HG_MUTEX_UNLOCK_PRE(&helgrind);
    lock_own(&known);
    under_known++;
    unlock_own(&known);
    mark();
    return NULL;
}

/* Each in a thread of its own: what one lock has ordered would order the others. */
THREAD(user)
{
    after(1);
    lock_own(&own);
    under_own++;
    unlock_own(&own);
    return NULL;
}

THREAD(trier)
{
    after(1);
    try_in_vain(&tried);
    return NULL;
}

THREAD(annotator)
{
    after(1);
    AnnotateRWLockAcquired(HERE, &annotated, 0); // RACE c:read
    use(under_annotated);
    AnnotateRWLockReleased(HERE, &annotated, 0);
    return NULL;
}

THREAD(helgrinder)
{
    after(1);
    VALGRIND_HG_MUTEX_LOCK_POST(&helgrind); // RACE d:read
    under_helgrind++;
    VALGRIND_HG_MUTEX_UNLOCK_PRE(&helgrind);
    return NULL;
}

/* This one was created before any of them. */
THREAD(late)
{
    after(1);
    lock_own(&known);
    under_known++;
    unlock_own(&known);
    return NULL;
}

int main(void)
{
    __tsan_mutex_create(&known, 0);
    pthread_t t[] = {spawn(maker, NULL),     spawn(user, NULL),       spawn(trier, NULL),
                     spawn(annotator, NULL), spawn(helgrinder, NULL), spawn(late, NULL)};

    for (unsigned i = 0; i < sizeof(t) / sizeof(*t); i++)
        join(t[i]);
    __tsan_mutex_destroy(&known, 0);
    return 0;
}
