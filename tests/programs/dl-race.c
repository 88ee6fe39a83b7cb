// A library opened at run time is watched: the race is inside it.
// LIB: counter.c
#include <dlfcn.h>

#include "invisible.h"

static void (*add)(void), (*add_unlocked)(void);

THREAD(first)
{
    add();
    add_unlocked();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    add_unlocked();
    return NULL;
}

int main(void)
{
    void *library = dlopen(LIBDIR "/libcounter.so", RTLD_NOW);

    MUST(library);
    *(void **)&add = dlsym(library, "counter_add");
    *(void **)&add_unlocked = dlsym(library, "counter_add_unlocked");
    both(first, second);
    return 0;
}
