// The thread is ended in front of its racing write: cleanup handlers run, the write is not made.
// OPTIONS: on_race=exception:race_action=thread
#include "invisible.h"

int x, cleaned;

static void clean(void *arg)
{
    MUST(arg == &x);
    cleaned++;
}

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_cleanup_push(clean, &x);
    x = 2; // RACE a:write
    pthread_cleanup_pop(0);
    abort();
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    MUST(join(a) == NULL);
    MUST(join(b) == PTHREAD_CANCELED);
    MUST(x == 1 && cleaned == 1);
    return 0;
}
