/*
 * outside.c - the part of a program that is not in the merged module, and has all its checks: see inside.c.
 */
#include "invisible.h"

#if defined BY_NAME
extern int named;
static void race(void)
{
    named = 2;
}
#elif defined GIVEN
static int *thing;
void keep(int *p)
{
    thing = p;
}
static void race(void)
{
    *thing = 2;
}
#elif defined RETURNED
int *find_it(void);
static void race(void)
{
    *find_it() = 2;
}
#elif defined CALLED
void write_it(void);
static void race(void)
{
    write_it();
}
#elif defined KEPT
struct actions {
    void (*unused)(void), (*write)(void);
};
static struct holder {
    struct actions *actions;
} *held;
void hold(struct holder *h)
{
    held = h;
}
static void race(void)
{
    held->actions->write();
}
#endif

THREAD(body)
{
    race();
    mark();
    return NULL;
}

void race_outside(void)
{
    pthread_detach(spawn(body, NULL));
    after(1);
}
