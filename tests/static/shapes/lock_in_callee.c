// Functions that are given the element, or its lock and its data, and one that is given the data only.
// WRONG 1: the data of the next element are given
// WRONG 2: one element is locked, another one is used
// WRONG 3: the lock is released before the data are used
// WRONG 4: main does not lock
#include "shapes.h"

struct element {
    int count;
    pthread_mutex_t lock;
} all[10];

static void take(struct element *e)
{
    pthread_mutex_lock(&e->lock);
}

static void leave(struct element *e)
{
    pthread_mutex_unlock(&e->lock);
}

static void add(int *count)
{
    *count += 1; // HERE
}

static void add_to(struct element *e)
{
    take(e);
    W3(leave(e);, )
    e->count++; // HERE
    W3(take(e);, )
    leave(e);
}

static void *thread(void *arg)
{
    for (int i = 0; i < 9; i++) {
        add_to(&all[i]);
        take(all + i);
        add(&all[i W1(+1, )].count);
        leave(all + i);
        pthread_mutex_lock(&all[i].lock);
        add(&all[W2(9 - i, i)].count);
        pthread_mutex_unlock(&all[i].lock);
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < 10; i++)
        pthread_mutex_init(&all[i].lock, NULL);
    pthread_create(&t, NULL, thread, NULL);
    for (int i = 0; i < 10; i++)
        add_to(&all[i]);
    W4(, take(&all[5]);)
    all[5].count = 0; // HERE
    W4(, leave(&all[5]);)
    return pthread_join(t, NULL);
}
