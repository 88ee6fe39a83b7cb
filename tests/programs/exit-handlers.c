// What a thread did before it registered a handler for exit comes before the handler, which runs in main; the
// thread is never joined.
// NO RACE
// OUTPUT: at exit 3 at the end 4
#include <stdio.h>

#include "invisible.h"

static int first, second;

static void at_exit(void)
{
    printf("at exit %d ", first);
    first = 0;
}

static void on_exit_too(int status, void *arg)
{
    (void)status;
    MUST(arg == &second);
    printf("at the end %d\n", second);
    second = 0;
}

extern int on_exit(void (*)(int, void *), void *);

THREAD(registers)
{
    second = 4;
    MUST(on_exit(on_exit_too, &second) == 0);
    first = 3;
    MUST(atexit(at_exit) == 0);
    mark();
    after(3); /* for ever */
    return NULL;
}

int main(void)
{
    spawn(registers, NULL);
    after(1);
    return 0;
}
