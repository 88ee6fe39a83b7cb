/*
 * hostile.c - a race whose variable, function and thread have names that a terminal would obey. run.sh gives the file and the
 * program such names too, and puts an escape sequence for @ESC@ in this line.
 */
#define _GNU_SOURCE
#include <pthread.h>

int counter __asm__("count\033[2Jer\302\233");
pthread_mutex_t mutex __asm__("mu\033[1mtex") = PTHREAD_MUTEX_INITIALIZER;

void bump(void) __asm__("bu\033]0;title\007mp");
__attribute__((noinline)) void bump(void)
{
    counter++; /* @ESC@ */
}

static void *body(void *arg)
{
    pthread_setname_np(pthread_self(), "na\033[7mme");
    pthread_mutex_lock(&mutex);
    bump();
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, body, NULL);
    bump();
    pthread_join(t, NULL);
    return 0;
}
