// A thread that starts takes no block from the heap: one that was freed keeps what tells of its use.
// FLAGS: -D_GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "invisible.h"

static void *shared, *tid;

THREAD(freer)
{
    void *p = malloc(40);

    hide(&shared, p);
    free(p); // RACE a:free
    hide(&tid, (void *)(long)gettid());
    mark();
    return NULL;
}

/* It has the heap of the one that ended. */
THREAD(user)
{
    *(volatile char *)seek(&shared) = 1; // RACE a:write
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(freer, NULL), b;

    after(1);
    while (syscall(SYS_tgkill, getpid(), (long)seek(&tid), 0) == 0)
        sched_yield();
    b = spawn(user, NULL);
    join(a);
    join(b);
    return 0;
}
