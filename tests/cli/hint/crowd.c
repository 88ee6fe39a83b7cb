// Threads that are waited for do not race with what comes after them; the last one is not waited for in time.
#include "invisible.h"

static int jobs;

static __attribute__((noinline)) void add(void)
{
    jobs++;
}

THREAD(worker)
{
    add();
    mark();
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t = spawn(worker, NULL);
        after(i + 1);
        pthread_join(t, NULL);
        add();
    }
    pthread_t late = spawn(worker, NULL);
    after(4);
    add();
    pthread_join(late, NULL);
    return 0;
}
