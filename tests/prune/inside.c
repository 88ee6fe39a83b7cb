/*
 * inside.c - the part of a program that is pruned; outside.c is the part that is not in the module.
 *
 * A thread of the one part writes, and one of the other part, or on its behalf, writes the same variable. Without
 * outside.c there is one thread here, and nothing could race.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "invisible.h"

#ifdef LOADED /* found while the program runs */
static void (*keep)(int *p);
static void (*race_outside)(void);
static void open_outside(void)
{
    void *library = dlopen(LOADED, RTLD_NOW);
    MUST(library != NULL);
    keep = (void (*)(int *))dlsym(library, "keep");
    race_outside = (void (*)(void))dlsym(library, "race_outside");
}
#else
void keep(int *p);
void race_outside(void);
static void open_outside(void)
{
}
#endif

#if defined BY_NAME
int named;
#define VARIABLE named
#elif defined GIVEN
static int given;
#define VARIABLE given
#elif defined RETURNED
static volatile int returned;
#define VARIABLE returned
int *find_it(void)
{
    return (int *)&returned;
}
#elif defined CALLED
static volatile int called;
#define VARIABLE called
void write_it(void)
{
    called = 2;
}
#elif defined KEPT
static volatile int kept;
#define VARIABLE kept
struct actions {
    void (*unused)(void), (*write)(void);
};
struct holder {
    struct actions *actions;
};
void hold(struct holder *h);
static void write_kept(void)
{
    kept = 2;
}
#endif

int main(void)
{
    open_outside();
#if defined GIVEN
    keep(&given);
#elif defined KEPT
    static struct actions actions = {NULL, write_kept};
    static struct holder holder = {&actions};
    hold(&holder);
#endif
    race_outside(); /* begins a thread, which writes at once */
    VARIABLE = 1;
    return 0;
}
