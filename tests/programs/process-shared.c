// Objects made for several processes and used by the threads of one: mutex, condition variable, read-write
// lock, spin lock and barrier, in memory that could be shared.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

struct shared {
    pthread_mutex_t m;
    pthread_cond_t c;
    pthread_rwlock_t l;
    pthread_barrier_t b;
    pthread_spinlock_t s;
    int turn, locked, read, spun;
};
static struct shared *p;
static int before[2];

static void work(int me)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&p->m);
        while (p->turn != me)
            pthread_cond_wait(&p->c, &p->m);
        p->locked++;
        p->turn = !me;
        pthread_cond_signal(&p->c);
        pthread_mutex_unlock(&p->m);
        pthread_rwlock_wrlock(&p->l);
        p->read++;
        pthread_rwlock_unlock(&p->l);
        pthread_rwlock_rdlock(&p->l);
        MUST(p->read > i);
        pthread_rwlock_unlock(&p->l);
        pthread_spin_lock(&p->s);
        p->spun++;
        pthread_spin_unlock(&p->s);
        before[me] = i;
        pthread_barrier_wait(&p->b);
        MUST(before[!me] == i);
        pthread_barrier_wait(&p->b);
    }
}

THREAD(first)
{
    work(0);
    return NULL;
}

THREAD(second)
{
    work(1);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_rwlockattr_t l;
    pthread_barrierattr_t b;

    p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_rwlockattr_init(&l);
    pthread_rwlockattr_setpshared(&l, PTHREAD_PROCESS_SHARED);
    pthread_barrierattr_init(&b);
    pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
    MUST(pthread_mutex_init(&p->m, &m) == 0 && pthread_cond_init(&p->c, &c) == 0);
    MUST(pthread_rwlock_init(&p->l, &l) == 0 && pthread_barrier_init(&p->b, &b, 2) == 0);
    MUST(pthread_spin_init(&p->s, PTHREAD_PROCESS_SHARED) == 0);
    both(first, second);
    MUST(p->locked == 20 && p->read == 20 && p->spun == 20);
    return 0;
}
