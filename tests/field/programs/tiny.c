/*
 * tiny.c - the pair in threads whose alternate stack is smaller than what the kernel puts on it: nobody uses it, and it stays
 * as it was set.
 */
#include "meet.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 2048 }; /* MINSIGSTKSZ, as it was before processors had large registers */

static volatile int shared;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static int is_set(void *at, size_t size)
{
    stack_t s;
    return sigaltstack(NULL, &s) == 0 && s.ss_sp == at && s.ss_size == size && s.ss_flags == 0;
}

static void *thread(void *arg)
{
    char stack[SIZE], *large = malloc(1 << 16);
    stack_t s = {.ss_sp = stack, .ss_size = SIZE}, old;
    struct timespec begin, now;
    if (sigaltstack(&s, NULL) != 0 || !is_set(stack, SIZE))
        exit(1);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        touch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 100);
    s = (stack_t){.ss_sp = large, .ss_size = 1 << 16};
    if (sigaltstack(&s, &old) != 0 || old.ss_sp != stack || !is_set(large, 1 << 16))
        exit(2);
    touch();
    s.ss_flags = SS_DISABLE;
    if (sigaltstack(&s, NULL) != 0 || sigaltstack(NULL, &old) != 0 || old.ss_flags != SS_DISABLE)
        exit(3);
    s = (stack_t){.ss_sp = stack, .ss_size = 1};
    if (sigaltstack(&s, NULL) == 0)
        exit(4);
    free(large);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("OK");
    return 0;
}
