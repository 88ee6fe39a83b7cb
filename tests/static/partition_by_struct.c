// Each thread is given its own structure out of an array: no two are given the same, which is proved.
#include <pthread.h>

struct work {
    long from, to, sum;
};

static void *thread(void *arg)
{
    struct work *w = arg;
    long sum = 0;
    for (long i = w->from; i < w->to; i++) // NO PAIR
        sum += i * i;
    w->sum = sum; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    struct work works[4];
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        works[i].from = i * 100;
        works[i].to = i * 100 + 100;
    }
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, &works[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 4; i++)
        sum += works[i].sum; // NO PAIR
    return (int)sum;
}
