// A pool of the program's own: its blocks are one piece of memory.
#include <pthread.h>
#include <stddef.h>

static char pool[4096];
static size_t used;

__attribute__((noinline)) static void *take(size_t n)
{
    void *p = pool + used;
    used += n;
    return p;
}

static void *thread(void *arg)
{
    *(int *)arg = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    int *given = take(sizeof *given);
    int *kept = take(sizeof *kept);
    pthread_create(&t, NULL, thread, given);
    *kept = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
