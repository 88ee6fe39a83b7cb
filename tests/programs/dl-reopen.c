// Opened, used, closed, and opened again (likely at the same place) by another thread: no history remains.
// NO RACE
// LIB: quiet.c
#include <dlfcn.h>

#include "invisible.h"

THREAD(user)
{
    void *library;
    int (*add)(void);

    after((int)(long)arg);
    library = dlopen(LIBDIR "/libquiet.so", RTLD_NOW);
    MUST(library);
    *(void **)&add = dlsym(library, "quiet_add");
    MUST(add() == 1 && add() == 2);
    dlclose(library);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    for (long i = 0; i < 4; i++)
        t[i] = spawn(user, (void *)i);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    return 0;
}
