// Both ways out of a trylock, by if and by switch.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ok, bad, sw;

static void *f(void *a)
{
    if (pthread_mutex_trylock(&m) == 0) {
        ok++; // NO RACE
        pthread_mutex_unlock(&m);
    } else {
        bad++; // RACE a b c
    }
    int r = pthread_mutex_trylock(&m);
    switch (r) {
    case 0:
        ok++; // NO RACE
        pthread_mutex_unlock(&m);
        break;
    case 16:
        bad++; // RACE b d
        break;
    default:
        sw++; // RACE e
    }
    return a;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, f, 0);
    bad = 2; // RACE c d
    pthread_mutex_lock(&m);
    ok = 3; // NO RACE
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
