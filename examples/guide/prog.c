/*
 * prog.c - one race that every detector sees, one that the order of the run hides, and one variable that only
 * looks bad.
 *
 * The flag orders the threads without any detector knowing: its accesses are not instrumented.
 */
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long racy, hidden, handed, under_lock;
static int turn;

__attribute__((no_sanitize("thread"), noinline)) static void wait_for(int t)
{
    while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != t)
        sched_yield();
}

__attribute__((no_sanitize("thread"), noinline)) static void give(int t)
{
    __atomic_store_n(&turn, t, __ATOMIC_RELAXED);
}

static void *first(void *arg)
{
    racy = 1;   // RACE a
    hidden = 1; // HIDDEN RACE b
    pthread_mutex_lock(&lock);
    under_lock = 1;
    pthread_mutex_unlock(&lock);
    give(1);
    return arg;
}

static void *second(void *arg)
{
    wait_for(1);
    racy = 2; // RACE a
    pthread_mutex_lock(&lock);
    under_lock = 2;
    pthread_mutex_unlock(&lock);
    hidden = 2; // HIDDEN RACE b
    handed = 1;
    return arg;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    handed += racy + hidden; /* ordered by joining, which Eraser does not know */
    return handed < 0;
}
