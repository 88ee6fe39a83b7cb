// Locks inside heap objects that are freed and allocated again, by different threads in turn.
// NO RACE
#include "invisible.h"

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account *shared;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

THREAD(worker)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&registry);
        if (!shared) {
            shared = malloc(sizeof(*shared));
            pthread_mutex_init(&shared->lock, NULL);
            shared->balance = 0;
        }
        pthread_mutex_lock(&shared->lock);
        shared->balance++;
        pthread_mutex_unlock(&shared->lock);
        if (i % 3 == 0) {
            pthread_mutex_destroy(&shared->lock);
            free(shared);
            shared = NULL;
        }
        pthread_mutex_unlock(&registry);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    free(shared);
    return 0;
}
