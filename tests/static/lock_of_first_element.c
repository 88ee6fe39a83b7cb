// FLAGS -O0
// The lock of the first element is held, and any element accessed; elsewhere each under its own, at the same distance but for
// the index that was left out.
#include <pthread.h>
#include <stdlib.h>

struct slot {
    pthread_mutex_t lock;
    int counts[4];
} slots[8];
struct table {
    pthread_mutex_t lock;
    struct slot slots[8];
} table;

static void *all_under_first(void *arg)
{
    int i = rand() % 8;
    pthread_mutex_lock(&slots[0].lock);
    slots[i].counts[0] = 1; // PAIR a:sound
    pthread_mutex_unlock(&slots[0].lock);
    struct table *t = arg;
    pthread_mutex_lock(&t->slots[0].lock);
    t->slots[i].counts[0] = 1; // PAIR b:sound
    pthread_mutex_unlock(&t->slots[0].lock);
    pthread_mutex_lock(&t->lock);
    t->slots[i].counts[3] = 1; // PAIR c
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void *each_under_own(void *arg)
{
    struct slot *p = &slots[rand() % 8];
    int k = rand() % 2;
    pthread_mutex_lock(&p->lock);
    p->counts[k] = 2; // PAIR a
    pthread_mutex_unlock(&p->lock);
    struct table *t = arg;
    p = &t->slots[rand() % 8];
    pthread_mutex_lock(&p->lock);
    p->counts[k] = 2; // PAIR b c
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, all_under_first, &table);
    pthread_create(&u, NULL, each_under_own, &table);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
