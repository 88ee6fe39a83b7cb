// pthread_cancel orders nothing: what the canceller wrote is not seen in order by the clean-up handler.
#include <unistd.h>

#include "invisible.h"

int x;

static void cleanup(void *arg)
{
    (void)arg;
    x = 2; // RACE a:write
}

THREAD(child)
{
    pthread_cleanup_push(cleanup, NULL);
    mark();
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(child, NULL);

    after(1);
    x = 1; // RACE a:write
    pthread_cancel(t);
    join(t);
    return 0;
}
