// An element with its lock, by an index and by a pointer to it; the index may change when the pointer is made.
// WRONG 1: the index changes under the lock
// WRONG 2: the pointer is moved under the lock
// WRONG 3: the lock is that of the element before, for every second one
// WRONG 4: the index is computed anew, and cut short
#include "shapes.h"

struct element {
    int count;
    pthread_mutex_t lock;
} all[10];

static void *thread(void *arg)
{
    int i = input() % 8 + 1;
    struct element *p = &all[i];
    pthread_mutex_lock(&p[W3(-(i & 1), 0)].lock);
    W1(i++;, )
    all[W4((signed char)(i * 32), i)].count++; // HERE
    i++;
    W2(p++;, )
    (*p).count++; // HERE
    p[0].count++; // HERE
    pthread_mutex_unlock(&all[i - 1].lock);
    return arg;
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        pthread_mutex_init(&all[i].lock, NULL);
    RUN_TWICE(thread, NULL);
    return 0;
}
