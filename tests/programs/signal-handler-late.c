// Installing a handler orders what came before it, not what its installer does afterwards; nor is a handler
// that was there already ordered after one who only looks at it.
// FLAGS: -D_GNU_SOURCE
// TSAN: it does not order sigaction before the handler
#include <signal.h>

#include "invisible.h"

int before, behind, looked;

static void handler(int sig)
{
    (void)sig;
    use(before);
    use(behind); // RACE a:read
    use(looked); // RACE b:read
}

THREAD(target)
{
    after(1);
    raise(SIGUSR1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler}, old;
    pthread_t t = spawn(target, NULL);

    before = 1;
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    behind = 1; // RACE a:write
    looked = 1; // RACE b:write
    MUST(sigaction(SIGUSR1, NULL, &old) == 0);
    mark();
    join(t);
    return 0;
}
