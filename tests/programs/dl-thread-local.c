// A library's thread-local variables are made when a thread first uses them, out of the heap, and go with the
// thread: the next thread gets the memory, and no history with it. Nothing orders the two: who joins the
// first is not who makes the second.
// NO RACE
// LIB: local.c
#include <dlfcn.h>
#include <malloc.h>

#include "invisible.h"

enum { THREADS = 10 };
static long (*local_sum)(long);

THREAD(worker)
{
    for (long i = 1; i <= 3; i++)
        MUST(local_sum(i) == i * (i + 1) / 2 * 128);
    return NULL;
}

THREAD(joiner)
{
    join(spawn(worker, NULL));
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    void *lib;

    mallopt(M_ARENA_MAX, 1);
    lib = dlopen(LIBDIR "/liblocal.so", RTLD_NOW);
    local_sum = lib ? (long (*)(long))dlsym(lib, "local_sum") : NULL;
    MUST(local_sum);
    for (int i = 0; i < THREADS; i++) {
        t[i] = spawn(joiner, NULL);
        after(i + 1);
    }
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    return 0;
}
