/*
 * interrupt.c - a race that is certain to be steered, and then whoever started the program is interrupted, as by a user, who
 * means both: interrupt default|handled [SIGNAL]. Or it gets another signal, by its number.
 */
#include "meet.h"

#include <signal.h>
#include <unistd.h>

static volatile int value, sink;
static volatile sig_atomic_t handled;

static void *first(void *arg)
{
    (void)arg;
    await_other();
    value = 1; // FIRST
    say_done();
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    while (!is_done())
        sink = value; // SECOND
    return NULL;
}

static void handle(int number)
{
    handled = number;
}

int main(int argc, char **argv)
{
    const int number = argc > 2 ? atoi(argv[2]) : SIGINT;
    if (argc > 1 && strcmp(argv[1], "handled") == 0)
        signal(number, handle);
    both(first, second, NULL);
    kill(getppid(), number);
    while (!handled)
        usleep(1000);
    puts("OK");
    return 4;
}
