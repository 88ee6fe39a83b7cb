/*
 * getter.c - a function that does nothing but return a variable: gcc gives its load two lines, the second of which is that of
 * the closing brace.
 */
#include "meet.h"

static long now;

__attribute__((noinline)) static void set(void)
{
    now++; // FIRST
}

__attribute__((noinline)) static long get(void)
{
    return now; // SECOND
}

static void *first(void *arg)
{
    await_other();
    set();
    say_done();
    return arg;
}

static void *second(void *arg)
{
    long sum = 0;
    while (!is_done())
        sum += get();
    if (sum == -1)
        puts("never");
    return arg;
}

int main(void)
{
    both(first, second, NULL);
    puts("OK");
    return 0;
}
