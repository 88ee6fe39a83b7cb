/*
 * unseen-loaded.c - what orders the two accesses of unseen.c is in a library that the program loads when the first has been made.
 * CLOSED: and unloads before the second.
 */
#include <dlfcn.h>
#include <stdlib.h>

void tell(void);
void hear(void);

static void *module;
static const char *path;

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "";
}

static void call(const char *name)
{
    void *m = dlopen(path, RTLD_NOW);
    void (*fn)(void) = m ? (void (*)(void))dlsym(m, name) : NULL;
    if (!fn)
        abort();
    __atomic_store_n(&module, m, __ATOMIC_RELAXED);
    fn();
}

void tell(void)
{
    call("tell");
}

void hear(void)
{
    call("hear");
#ifdef CLOSED
    dlclose(__atomic_load_n(&module, __ATOMIC_RELAXED));
#endif
}
