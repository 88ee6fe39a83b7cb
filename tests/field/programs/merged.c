/*
 * merged.c - two stores that clang makes one, which is of neither line: the value differs, the place does not.
 */
#include "meet.h"

#include <unistd.h>

static volatile int now;
static volatile int sink, source = 3;

__attribute__((noinline)) static void set(int one, int other)
{
    if (source) {
        int a = rand();
        now = a - one; // FIRST
    } else {
        int b = (int)random();
        now = b - other; // OTHER
    }
}

static void *first(void *arg)
{
    (void)arg;
    await_other();
    /* For longer than the other may be kept waiting before this begins. */
    for (int i = 0; i < 1000; i++, usleep(1000))
        set(1, 2);
    say_done();
    return NULL;
}

static void second(void)
{
    sink = now; // SECOND
}

int main(void)
{
    both(first, keep_calling, (void *)second);
    puts("OK");
    return 0;
}
