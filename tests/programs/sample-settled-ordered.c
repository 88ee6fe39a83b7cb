// Threads settle and periods begin while two threads hand data to each other by every kind of order, and create others:
// nothing may be reported.
// FLAGS: -O1
// OPTIONS: sample=0%
// NO RACE
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "invisible.h"

extern void dh_period_turn(bool on);
extern bool dh_period_settle(void);

enum { ROUNDS = 400 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t turn;
static sem_t given;
static _Atomic int flag, fenced, counter, done;
static int locked, guarded, published, behind_fence, in_turn, by_semaphore, made;
static char *handed;

static void *created(void *arg)
{
    made++;
    return arg;
}

static void hand_over(int i)
{
    pthread_mutex_lock(&m);
    locked++;
    handed = realloc(handed, 16 + (size_t)i % 7 * 100);
    memset(handed, i, 16);
    if (i % 16 == 0) {
        free(handed);
        handed = NULL;
    }
    pthread_mutex_unlock(&m);
    if (i % 4) {
        pthread_rwlock_rdlock(&rw);
        use(guarded);
    } else {
        pthread_rwlock_wrlock(&rw);
        guarded++;
    }
    pthread_rwlock_unlock(&rw);
}

static void give(int i)
{
    published = i;
    atomic_store_explicit(&flag, i + 1, memory_order_release);
    behind_fence = i;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&fenced, i + 1, memory_order_relaxed);
    by_semaphore = i;
    sem_post(&given);
}

static void take(int i)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != i + 1)
        continue;
    use(published);
    while (atomic_load_explicit(&fenced, memory_order_relaxed) != i + 1)
        continue;
    atomic_thread_fence(memory_order_acquire);
    use(behind_fence);
    sem_wait(&given);
    use(by_semaphore);
}

static void *body(void *arg)
{
    int me = arg != NULL;
    for (int i = 0; i < ROUNDS; i++) {
        hand_over(i);
        if (atomic_fetch_add_explicit(&counter, 1, memory_order_acq_rel) % 2)
            in_turn++; // the second of each two
        pthread_barrier_wait(&turn);
        if (me == i % 2)
            give(i);
        else
            take(i);
        if (me == 0 && i % 8 == 0)
            join(spawn(created, NULL));
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

// In place of the controller. It takes the lock too: as long as it did not know what the others have recorded, not all
// threads could settle.
static void *control(void *arg)
{
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        dh_period_turn(true);
        pthread_mutex_lock(&m);
        locked++;
        pthread_mutex_unlock(&m);
        dh_period_turn(false);
        for (int tries = 0; tries < 1000 && !dh_period_settle(); tries++) {
            pthread_mutex_lock(&m);
            pthread_mutex_unlock(&m);
        }
    }
    return arg;
}

int main(void)
{
    pthread_barrier_init(&turn, NULL, 2);
    sem_init(&given, 0, 0);
    pthread_t c = spawn(control, NULL), a = spawn(body, NULL), b = spawn(body, &m);
    join(a);
    join(b);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    join(c);
    use(locked + guarded + published + behind_fence + in_turn + by_semaphore + made);
    return 0;
}
