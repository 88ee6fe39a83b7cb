/*
 * kept.c - one write, made once, which a flag orders before all reads at the second of two lines. Between the two, the reader waits
 * for whoever runs it: for a file `go`, after it has made a file `past`.
 */
#include "meet.h"

#include <fcntl.h>
#include <unistd.h>

static volatile int shared;

static void *first(void *arg)
{
    await_other();
    shared = 1; // FIRST
    say_done();
    return arg;
}

static void *second(void *arg)
{
    while (!is_done())
        (void)shared; // AT_ONCE
    close(open("past", O_CREAT | O_WRONLY, 0666));
    for (int i = 0; i < 5000 && access("go", F_OK) != 0; i++) /* nobody may have met */
        usleep(1000);
    for (int i = 0; i < 100; i++) {
        (void)shared; // LATER
        usleep(1000);
    }
    return arg;
}

int main(void)
{
    both(first, second, NULL);
    puts("OK");
    return 0;
}
