// The same with something to do while waiting, and the flag in a structure.
#include <pthread.h>
#include <sched.h>

struct gate {
    volatile int open;
    int passed;
} gate;

static void *waiter(void *arg)
{
    while (!gate.open) // PAIR a:ad-hoc
        sched_yield();
    gate.passed = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    gate.open = 1; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
