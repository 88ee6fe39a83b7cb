// Periods come and go while threads hand data to each other by every kind of order: nothing may be reported.
// OPTIONS: sample=0%
// NO RACE
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

enum { ROUNDS = 300 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static _Atomic int flag;
static int locked, published, swapped[2];
static char block[1000];

static void *body(void *arg)
{
    int me = arg != NULL;
    for (int i = 0; i < ROUNDS; i++) {
        if (me == i % 2)
            dh_period_turn(i % 3 == 0);
        pthread_mutex_lock(&m);
        locked++;
        memset(block, i, sizeof(block));
        pthread_mutex_unlock(&m);
        swapped[(i + me) % 2]++;
        pthread_barrier_wait(&turn);
        if (me) {
            published = i;
            atomic_store_explicit(&flag, i + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&flag, memory_order_acquire) != i + 1)
                continue;
            use(published);
        }
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&turn, NULL, 2);
    pthread_t a = spawn(body, NULL), b = spawn(body, &m);
    join(a);
    join(b);
    use(locked + published + swapped[0] + block[0]);
    return 0;
}
