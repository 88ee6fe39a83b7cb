// What a library's constructor sets up is there for all who open it afterwards, also in another thread; and
// what they do before closing it is there for its destructor.
// NO RACE
// TSAN: it does not know what orders dlclose
// LIB: built.c
#include <dlfcn.h>

#include "invisible.h"

static int report;

static void use_library(int expected)
{
    void *lib = dlopen(LIBDIR "/libbuilt.so", RTLD_NOW);
    int (*enter)(int *) = lib ? (int (*)(int *))dlsym(lib, "built_enter") : NULL;

    MUST(enter && enter(&report) == expected);
    MUST(dlclose(lib) == 0);
}

THREAD(opens_first)
{
    void *lib = dlopen(LIBDIR "/libbuilt.so", RTLD_NOW);

    MUST(lib);
    mark();
    after(2);
    MUST(dlclose(lib) == 0); /* the last one: the destructor runs here */
    MUST(report == 43);
    return NULL;
}

THREAD(opens_second)
{
    after(1);
    use_library(42);
    mark();
    return NULL;
}

int main(void)
{
    both(opens_first, opens_second);
    return 0;
}
