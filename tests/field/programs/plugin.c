/* plugin.c - with -DPLUGIN a library that a program loads; without it the program, which also unloads it: plugin FILE. */
#include "meet.h"

#ifdef PLUGIN
volatile int shared;

void touch(void)
{
    shared = 1; // FIRST
}

int look(void)
{
    return shared; // SECOND
}
#else
#include <dlfcn.h>

static void (*touch)(void);
static int (*look)(void);

static void *first(void *arg)
{
    (void)arg;
    await_other();
    touch();
    say_done();
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    while (!is_done())
        look();
    return NULL;
}

#include <unistd.h>

int main(int argc, char **argv)
{
    usleep(50000); /* so that the library is missing for a while */
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!handle)
        return 1;
    touch = (void (*)(void))dlsym(handle, "touch");
    look = (int (*)(void))dlsym(handle, "look");
    usleep(50000); /* until the command has found it: there is nothing in the program that could tell */
    both(first, second, NULL);
    dlclose(handle);
    usleep(200000);
    puts("OK");
    return 0;
}
#endif
