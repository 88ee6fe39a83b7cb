/* The main thread and a worker write to their own copies of a variable of the library, and to each other's. */
#include <dlfcn.h>

#include "../../programs/invisible.h"

static int *(*opened_second)(int);
static void *mains, *workers;

THREAD(worker)
{
    int *mine = opened_second(3);

    *mine = 1;
    hide(&workers, mine);
    after(1);
    *(int *)seek(&mains) = 2;
    mark();
    after(3);
    return NULL;
}

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    pthread_t t;
    int *mine;

    MUST(library);
    *(void **)&opened_second = dlsym(library, "opened_second");
    t = spawn(worker, NULL);
    mine = opened_second(1);
    *mine = 1;
    hide(&mains, mine);
    mark();
    after(2);
    *(int *)seek(&workers) = 2;
    mark();
    join(t);
    return 0;
}
