// FLAGS -O0
// Each element has its own lock, and is found by the same index or pointer as the lock, in every way that code writes it.
#include <pthread.h>
#include <stdlib.h>

struct slot {
    long spare;
    pthread_mutex_t lock;
    int count;
    char text[16];
} slots[8];

static void set_lock(struct slot *s)
{
    pthread_mutex_lock(&s->lock);
}

static void count_slot(struct slot *all, int at)
{
    pthread_mutex_lock(&all[at].lock);
    if (rand() > 10)
        all[at].count++; // NO PAIR
    pthread_mutex_unlock(&all[at].lock);
}

static void count_given(pthread_mutex_t *lock, int *count)
{
    pthread_mutex_lock(lock);
    (*count)++; // NO PAIR
    pthread_mutex_unlock(lock);
}

static void *thread(void *arg)
{
    int i = rand() % 8, k = i;
    pthread_mutex_lock(&slots[i].lock);
    if (slots[k].count > 0)   // NO PAIR
        slots[i].count -= 1;  // NO PAIR
    slots[i].text[k & 3] = 0; // NO PAIR
    pthread_mutex_unlock(&slots[i].lock);

    struct slot *p = &slots[rand() % 8];
    pthread_mutex_lock(&p->lock);
    for (int n = 0; n < 4; n++)
        p->count += n; // NO PAIR
    pthread_mutex_unlock(&p->lock);

    unsigned u = (unsigned)rand();
    pthread_mutex_lock(&slots[(u * 3 + 1) % 8].lock);
    slots[(u * 3 + 1) % 8].count++; // NO PAIR
    pthread_mutex_unlock(&slots[(u * 3 + 1) % 8].lock);

    for (int n = 0; n < 8; n++) {
        count_slot(slots, n);
        count_given(&slots[n].lock, &slots[n].count);
        set_lock(&slots[n]);
        slots[n].count--; // NO PAIR
        pthread_mutex_unlock(&slots[n].lock);
    }
    pthread_mutex_lock(&slots[2].lock);
    slots[2].count = 0; // NO PAIR
    pthread_mutex_unlock(&slots[2].lock);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    for (int i = 0; i < 8; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
