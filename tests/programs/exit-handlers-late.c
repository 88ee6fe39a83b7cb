// What a thread does after it has registered a handler for exit is not ordered before the handler.
#include "invisible.h"

int before, behind;

static void at_exit(void)
{
    use(before);
    behind = 0; // RACE a:write
}

THREAD(registers)
{
    before = 1;
    MUST(atexit(at_exit) == 0);
    behind = 1; // RACE a:write
    mark();
    after(2); /* for ever */
    return NULL;
}

int main(void)
{
    spawn(registers, NULL);
    after(1);
    return 0;
}
