// A block is handed to a thread, and one of its fields touched meanwhile.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int in, out;
};

static void *thread(void *arg)
{
    struct job *j = arg;
    j->in++;    // NO PAIR
    j->out = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct job *j = malloc(sizeof *j);
    if (!j)
        return 1;
    pthread_create(&t, NULL, thread, j);
    j->out = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
