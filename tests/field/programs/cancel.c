/* cancel.c - threads that are cancelled, or whose process ends, while they wait: cancel [exit]. */
#include "meet.h"

#include <unistd.h>

static volatile int shared;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void *victim(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        atomic_store(&running, 1);
        touch();
    }
    return arg;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        void *result;
        running = 0;
        pthread_create(&t, NULL, victim, NULL);
        await_other();
        usleep(500);
        if (argc > 1) {
            puts("OK");
            exit(4); /* it waits, perhaps */
        }
        pthread_cancel(t);
        pthread_join(t, &result);
        if (result != PTHREAD_CANCELED)
            return 1;
    }
    puts("OK");
    return 0;
}
