// A thread of a team creates threads of its own, one at a time or a team, gives them what it was given itself, and joins them.
// WRONG 1: a thread ends before the one it has created
// WRONG 2: a thread writes while the one it has created does
// WRONG 3: a thread's thread is given the element of another one
// WRONG 4: a thread creates a second one before it joins the first
// WRONG 5: the handle is in a variable that all have in common
// WRONG 6: two threads of an inner team are given one element
#include "shapes.h"

enum { TEAM = 4, INNER = 3 };
struct work {
    int sum, part[INNER];
    struct work *all;
};
int total, shared_total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_t common;

static void *helper(void *arg)
{
    struct work *w = arg;
    w->sum++; // HERE
    pthread_mutex_lock(&lock);
    total++; // HERE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *worker(void *arg)
{
    struct work *w = arg;
    W5(, pthread_t common);
    w->sum = 1; // HERE
    for (int i = 0; i < INNER; i++) {
        pthread_create(&common, NULL, helper, W3(w->all, w));
        W4(if (i == 1) continue, );
        W2(w->sum++, ); // HERE
        W1(if (input()) return NULL, );
        pthread_join(common, NULL);
        w->sum++; // HERE
    }
    return NULL;
}

static void *count(void *arg)
{
    int *part = arg;
    ++*part; // HERE
    return NULL;
}

static void *leader(void *arg)
{
    struct work *w = arg;
    pthread_t t[INNER];
    for (int i = 0; i < INNER; i++)
        pthread_create(&t[i], NULL, count, &w->part[W6(i / 2, i)]);
    for (int i = 0; i < INNER; i++) {
        pthread_join(t[i], NULL);
        w->part[i]++; // HERE
    }
    return NULL;
}

static void *alone(void *arg)
{
    int *x = arg;
    pthread_t t[INNER];
    for (int i = 0; i < INNER; i++)
        pthread_create(&t[i], NULL, count, &x[i]);
    for (int i = 0; i < INNER; i++)
        pthread_join(t[i], NULL);
    x[0]++; // HERE
    return NULL;
}

int main(void)
{
    pthread_t t[TEAM], u;
    struct work w[TEAM];
    int x[INNER] = {0}, sum = 0;
    for (int i = 0; i < TEAM; i++) {
        w[i].all = w;
        pthread_create(&t[i], NULL, worker, &w[i]);
    }
    for (int i = 0; i < TEAM; i++)
        pthread_join(t[i], NULL);
    total++; // HERE
    for (int i = 0; i < TEAM; i++)
        pthread_create(&t[i], NULL, leader, &w[i]);
    for (int i = 0; i < TEAM; i++) {
        pthread_join(t[i], NULL);
        sum += w[i].part[0]; // HERE
    }
    pthread_create(&u, NULL, alone, x);
    pthread_join(u, NULL);
    return sum + x[0];
}
