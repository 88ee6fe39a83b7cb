// Thousands of epochs of two threads that take turns, over the same few variables: however often they change,
// what one did in its last turn comes before the other's next, be it read, written, or used atomically.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

enum { TURNS = 1000 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, written, often_read[4];
static char bytes[8];
static atomic_int counted;

static void play(int me)
{
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            pthread_cond_wait(&c, &m);
        pthread_mutex_unlock(&m);
        written++;
        bytes[i % 8]++;
        use(often_read[i % 4]);
        if (i % 200 == 0)
            often_read[i / 200 % 4]++;
        if (i % 3 == 0)
            *(volatile int *)&counted += 1;
        else
            atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
        pthread_mutex_lock(&m);
        turn = !me;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
}

THREAD(first)
{
    play(0);
    return NULL;
}

THREAD(second)
{
    play(1);
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(written == 2 * TURNS && atomic_load(&counted) == 2 * TURNS);
    return 0;
}
