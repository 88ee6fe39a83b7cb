// A block is initialised, handed to a thread, and not touched again before the join.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int in, out;
};

static void *thread(void *arg)
{
    struct job *j = arg;
    j->out = j->in + 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct job *j = malloc(sizeof *j);
    if (!j)
        return 1;
    j->in = 5; // NO PAIR
    pthread_create(&t, NULL, thread, j);
    pthread_join(t, NULL);
    int out = j->out; // NO PAIR
    free(j);          // NO PAIR
    return out;
}
