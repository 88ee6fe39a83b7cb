// One place is nearly always reached with a lock held. The arguments choose which lock, and who lacks it.
#include "invisible.h"

struct account {
    int balance;
    pthread_mutex_t lock;
};

static struct account accounts[8];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static int mode; /* 1: one lock; 2: each account's own; 3: none; 4: one lock, and rarely */

static __attribute__((noinline)) void pay(int i)
{
    accounts[i].balance++;
}

static void pay_locked(int i)
{
    pthread_mutex_t *lock = mode == 2 ? &accounts[i].lock : &all;
    pthread_mutex_lock(lock);
    pay(i);
    pthread_mutex_unlock(lock);
}

THREAD(careful)
{
    for (int i = 0; i < 8; i++)
        if (mode == 3 || (mode == 4 && i > 0))
            pay(i);
        else
            pay_locked(i);
    mark();
    return NULL;
}

THREAD(careless)
{
    after(1);
    pay(3);
    return NULL;
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < 8; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    both(careful, careless);
    return 0;
}
