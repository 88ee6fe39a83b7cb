// Many structures, each with its lock: a lock protects what lies in the same structure, whichever it is.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};
struct account *accounts[100];

__attribute__((noinline)) static void add(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount; // NO PAIR
    pthread_mutex_unlock(&a->lock);
}

static void *thread(void *arg)
{
    for (int i = 0; i < 100; i++)
        add(accounts[i], 1); // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < 100; i++) {
        accounts[i] = calloc(1, sizeof **accounts); // NO PAIR
        pthread_mutex_init(&accounts[i]->lock, NULL);
    }
    pthread_create(&t, NULL, thread, NULL);
    for (int i = 0; i < 100; i++)
        add(accounts[i], -1); // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
