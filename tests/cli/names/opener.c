/* The worker writes to its own copy of a variable of the library, the main thread to the same. */
#include <dlfcn.h>

#include "../../programs/invisible.h"

static int *(*opened_second)(int);
static void *place;

THREAD(worker)
{
    int *mine = opened_second(3);

    *mine = 1;
    hide(&place, mine);
    mark();
    after(2);
    return NULL;
}

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    pthread_t t;

    MUST(library);
    *(void **)&opened_second = dlsym(library, "opened_second");
    t = spawn(worker, NULL);
    after(1);
    *(int *)seek(&place) = 2;
    mark();
    join(t);
    return 0;
}
