/* The program the fixtures of run.sh pretend has run. It is compiled and looked into, never started. */
#include <pthread.h>

#define AT(name) __asm__ volatile(".globl at_" #name "\nat_" #name ":" ::: "memory")

struct stats {
    long hits;
    struct {
        int low, high;
    } range[4];
};

int counter;
struct stats stats;
static long hidden;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static inline __attribute__((always_inline)) void bump(void)
{
    AT(bump);
    counter++;
}

static inline __attribute__((always_inline)) void bump_twice(void)
{
    bump();
}

__attribute__((noinline)) void *worker(void *arg)
{
    static int calls;
    AT(lock);
    pthread_mutex_lock(&m);
    calls++;
    bump_twice();
    hidden++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t;
    AT(create);
    pthread_create(&t, 0, worker, 0);
    AT(main);
    counter = 7;
    AT(stats);
    stats.range[2].high = 1;
    pthread_join(t, 0);
    return counter;
}
