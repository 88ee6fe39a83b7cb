// FLAGS -O0
// The lock of an element, but not of the one that is accessed: each way misses it by one step.
#include <pthread.h>
#include <stdlib.h>

struct slot {
    pthread_mutex_t lock;
    int moved, other, next, stored, read, left;
} slots[8], *shared = slots;
int place;

static void let_go(struct slot *s)
{
    pthread_mutex_unlock(&s->lock);
}

static void *thread(void *arg)
{
    int i = rand() % 8, k = rand() % 8;
    pthread_mutex_lock(&slots[i].lock);
    i = (i + 1) % 8;
    slots[i].moved++; // PAIR a:sound
    pthread_mutex_unlock(&slots[(i + 7) % 8].lock);

    pthread_mutex_lock(&slots[i].lock);
    slots[k].other++; // PAIR b:sound
    pthread_mutex_unlock(&slots[i].lock);

    pthread_mutex_lock(&slots[i].lock);
    slots[i].next++;                 // PAIR d:sound
    slots[i < 7 ? i + 1 : i].next++; // PAIR d e:sound
    pthread_mutex_unlock(&slots[i].lock);

    struct slot *p = &slots[i];
    pthread_mutex_lock(&p->lock);
    p = &slots[k];
    p->stored++; // PAIR f:sound
    pthread_mutex_unlock(&slots[i].lock);

    pthread_mutex_lock(&slots[__atomic_load_n(&place, __ATOMIC_RELAXED)].lock);
    slots[__atomic_load_n(&place, __ATOMIC_RELAXED)].read++; // PAIR g:sound
    pthread_mutex_unlock(&slots[__atomic_load_n(&place, __ATOMIC_RELAXED)].lock);

    pthread_mutex_lock(&slots[i].lock);
    let_go(&slots[i]);
    slots[i].left++; // PAIR h
    return arg;
}

int main(void)
{
    pthread_t t, u;
    for (int i = 0; i < 8; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    __atomic_store_n(&place, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
