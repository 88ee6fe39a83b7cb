// An error-checking mutex refuses a second lock and a stranger's unlock; the latter publishes nothing.
// TSAN: it takes the refused calls for real ones
// FLAGS: -D_GNU_SOURCE
#include <errno.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
int guarded, loose;

THREAD(first)
{
    MUST(pthread_mutex_lock(&m) == 0);
    MUST(pthread_mutex_lock(&m) == EDEADLK);
    guarded++;
    MUST(pthread_mutex_unlock(&m) == 0);
    MUST(pthread_mutex_unlock(&m) == EPERM);
    loose = 1; // RACE a:write
    MUST(pthread_mutex_unlock(&m) == EPERM);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_mutex_lock(&m) == 0);
    guarded++;
    use(loose); // RACE a:read
    MUST(pthread_mutex_unlock(&m) == 0);
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(guarded == 2);
    return 0;
}
