// What is inlined from a header of the system is an access of the line that calls it.
// FLAGS -O2
#include <pthread.h>
#include <stdio.h>

static void *thread(void *arg)
{
    putchar_unlocked('a'); // PAIR a
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    putchar_unlocked('b'); // PAIR a
    return pthread_join(t, NULL);
}
