// A pointer that is copied in halves is not followed; that is counted.
// ASSUMED pieces 1
// FLAGS -O0
#include <pthread.h>
#include <stdint.h>

union word {
    int *p;
    struct {
        uint32_t low, high;
    } half;
};

int x, y;

static void *thread(void *arg)
{
    union word from, to;
    from.p = &x;
    to.half.low = from.half.low;
    to.half.high = from.half.high;
    *to.p = 1; // NO PAIR
    y = 1;     // PAIR a
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // NO PAIR
    y = 2; // PAIR a
    return pthread_join(t, NULL);
}
