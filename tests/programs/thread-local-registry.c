// Counters that are each thread's own and known to all: a thread enters its thread-local variable in a list,
// others add up the list under the lock, and it leaves the list before it ends. The next thread finds its
// variables where those were.
// NO RACE
#include "invisible.h"

struct counter {
    struct counter *next;
    long value;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct counter *list;
static long retired;
static _Thread_local struct counter mine;

static long sum(void)
{
    long total;

    pthread_mutex_lock(&m);
    total = retired;
    for (struct counter *c = list; c; c = c->next)
        total += c->value;
    pthread_mutex_unlock(&m);
    return total;
}

THREAD(worker)
{
    pthread_mutex_lock(&m);
    mine.next = list;
    list = &mine;
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&m);
        mine.value++;
        pthread_mutex_unlock(&m);
        use(sum());
    }
    pthread_mutex_lock(&m);
    for (struct counter **c = &list; *c; c = &(*c)->next)
        if (*c == &mine) {
            *c = mine.next;
            break;
        }
    retired += mine.value;
    pthread_mutex_unlock(&m);
    mine.value = -1; /* nobody's but ours again */
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 6; round++) {
        pthread_t t[4];

        for (int i = 0; i < 4; i++)
            t[i] = spawn(worker, NULL);
        use(sum());
        for (int i = 0; i < 4; i++)
            pthread_detach(t[i]);
        while (sum() != (round + 1) * 40)
            ;
    }
    return 0;
}
