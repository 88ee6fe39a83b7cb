// Made when it is first asked for, under a lock, and then used by all: nobody owns it.
// FLAGS -O0
#include <pthread.h>
#include <stdlib.h>

struct state {
    int count;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct state *instance;

static struct state *get(void)
{
    pthread_mutex_lock(&lock);
    if (!instance) {
        struct state *s = malloc(sizeof *s);
        if (s)
            instance = s; // NO PAIR
        else
            instance = NULL; // NO PAIR
    }
    struct state *s = instance; // NO PAIR
    pthread_mutex_unlock(&lock);
    return s;
}

static void *thread(void *arg)
{
    struct state *s = get();
    if (s)
        s->count++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    return 0;
}
