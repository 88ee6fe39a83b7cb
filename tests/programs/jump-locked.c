// Jumps out of regions that hold a lock, which is given back where they land: by longjmp through many frames,
// and by siglongjmp out of a handler.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <setjmp.h>
#include <signal.h>

#include "invisible.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static long one, other;
static _Thread_local sigjmp_buf back;

__attribute__((noinline)) static void fails(int depth)
{
    if (depth > 0)
        fails(depth - 1);
    else
        siglongjmp(back, 1);
    use(depth);
}

static void handler(int sig)
{
    (void)sig;
    other++;
    siglongjmp(back, 1);
}

static void work(void)
{
    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(back, 1) == 0) {
            pthread_mutex_lock(&m);
            one++;
            fails(i);
        }
        one++;
        pthread_mutex_unlock(&m);
        if (sigsetjmp(back, 1) == 0) {
            pthread_rwlock_wrlock(&l);
            other++;
            raise(SIGUSR1);
        }
        other++;
        pthread_rwlock_unlock(&l);
    }
}

THREAD(first)
{
    work();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work();
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};

    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    both(first, second);
    MUST(one == 80 && other == 120);
    return 0;
}
