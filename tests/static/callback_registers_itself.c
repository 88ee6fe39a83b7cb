// A function that gives itself to code outside the program: that it might be called back from there at once, and so on
// without end, does not mean that what follows is never reached.
#include <pthread.h>

extern void later(void (*what)(void));

static int now;

static void tick(void)
{
    later(tick);
    now = 1; // PAIR a b:callbacks
}

static void *reader(void *arg)
{
    (void)arg;
    return now ? &now : 0; // PAIR a
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    tick();
    pthread_join(t, 0);
    return 0;
}
