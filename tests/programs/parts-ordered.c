// Parts of words that a thread gathers are recorded before it releases anything: what is ordered after them stays so.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned char noise[2][8192];
static unsigned char shared[64];
static int done;

static void make_many(unsigned char *p, unsigned n)
{
    for (unsigned epoch = 0; epoch < 4; epoch++) {
        for (unsigned i = epoch; i < n; i += 4)
            p[i]++;
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
}

static void work(unsigned char *own)
{
    make_many(own, sizeof(noise[0]));
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&m);
        for (unsigned k = 0; k < sizeof(shared); k += 3)
            shared[k]++;
        done++;
        pthread_mutex_unlock(&m);
    }
}

THREAD(one)
{
    work(noise[0]);
    return NULL;
}

THREAD(two)
{
    work(noise[1]);
    return NULL;
}

int main(void)
{
    both(one, two);
    return done != 2000;
}
