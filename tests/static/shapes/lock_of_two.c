// Two elements are locked in order, both are used; and locks of other kinds.
// WRONG 1: one element is used after its lock was released
// WRONG 2: a lock for reading is held while the data are written
// WRONG 3: trylock is not asked for its result
#include "shapes.h"

struct account {
    long balance;
    pthread_mutex_t lock;
} accounts[8];
pthread_rwlock_t readers[8];
pthread_spinlock_t spins[8];
int shared[8], spun[8];

static void move(int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    if (low == high)
        return;
    pthread_mutex_lock(&accounts[low].lock);
    pthread_mutex_lock(&accounts[high].lock);
    accounts[low].balance--; // HERE
    W1(pthread_mutex_unlock(&accounts[high].lock);, )
    accounts[high].balance++; // HERE
    W1(, pthread_mutex_unlock(&accounts[high].lock);)
    pthread_mutex_unlock(&accounts[low].lock);
}

static void *thread(void *arg)
{
    int i = input() & 7, k = input() & 7;
    move(i, k);
    pthread_rwlock_rdlock(&readers[i]);
    k = shared[i];     // HERE
    W2(shared[i]++;, ) // HERE
    pthread_rwlock_unlock(&readers[i]);
    pthread_rwlock_wrlock(&readers[i]);
    shared[i] = k; // HERE
    pthread_rwlock_unlock(&readers[i]);
    pthread_spin_lock(&spins[i]);
    spun[i]++; // HERE
    pthread_spin_unlock(&spins[i]);
    if (pthread_mutex_trylock(&accounts[i].lock) == 0 W3(|| i, )) {
        accounts[i].balance = 0; // HERE
        pthread_mutex_unlock(&accounts[i].lock);
    }
    return arg;
}

int main(void)
{
    for (int i = 0; i < 8; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        pthread_rwlock_init(&readers[i], NULL);
        pthread_spin_init(&spins[i], 0);
    }
    RUN_TWICE(thread, NULL);
    return 0;
}
