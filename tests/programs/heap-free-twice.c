// Two threads free the same block. libc ends the program, but the race has been told before.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "invisible.h"

char *volatile block;

static void ended(int signal)
{
    (void)signal;
    _exit(0);
}

THREAD(first)
{
    free(block); // RACE a:free
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    free(block); // RACE a:free
    return NULL;
}

int main(void)
{
    signal(SIGABRT, ended);
    MUST(dup2(open("/dev/null", O_WRONLY), 2) == 2); // libc's own words
    block = malloc(40);
    both(first, second);
    return 1;
}
