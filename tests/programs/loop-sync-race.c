// A loop with a lock inside: only the access outside the lock races, although the loop's body also locks.
// FLAGS: -O2
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int guarded[10], loose[10];

THREAD(first)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&m);
        guarded[i]++;
        pthread_mutex_unlock(&m);
        loose[i] = i; // RACE a:write
    }
    mark();
    return NULL;
}

THREAD(second)
{
    long sum = 0;

    after(1);
    for (int i = 9; i >= 0; i--) {
        sum += loose[i]; // RACE a:read
        pthread_mutex_lock(&m);
        guarded[i]++;
        pthread_mutex_unlock(&m);
    }
    use(sum);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
