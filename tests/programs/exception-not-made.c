// An access that was raised and not made is no part of the past: it hides no earlier access from a thread
// that knows it, and nothing races with it.
// OPTIONS: on_race=exception
#include <setjmp.h>

#include <deadheat/race.h>

#include "invisible.h"

long x, y;
static pthread_t one;
static _Atomic int raised;
static _Thread_local jmp_buf back;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)race;
    (void)arg;
    raised++;
    longjmp(back, 1);
}

THREAD(first)
{
    x = 1; // RACE a:write b:write
    y = 1; // RACE c:write
    mark();
    after(2);
    return NULL;
}

/* The child knows all of its parent, and nothing of the first thread. */
THREAD(child)
{
    if (setjmp(back) == 0) {
        x = 3; // RACE b:write
        abort();
    }
    return NULL;
}

THREAD(second)
{
    after(1);
    if (setjmp(back) == 0) {
        x = 2; // RACE a:write
        abort();
    }
    if (setjmp(back) == 0) {
        y = 2; // RACE c:write
        abort();
    }
    join(spawn(child, NULL));
    mark();
    after(3); /* so that its end orders nothing */
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    one = spawn(first, NULL);
    pthread_t other = spawn(second, NULL);
    join(one);
    MUST(y == 1); /* ordered after the write that was made; the other one never was */
    y = 3;
    mark();
    join(other);
    MUST(raised == 3 && x == 1);
    return 0;
}
