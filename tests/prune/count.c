/* Of its accesses, a thousand are under a lock, two are of main to the handles of its threads, and ten may race. Neither
 * loop can get one check for all rounds. */
#include "invisible.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int locked, raced;

THREAD(body)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        locked = i;
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 5; i++) {
        raced = i;
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    both(body, body);
    return 0;
}
