// The timed forms of C11, where they succeed and where they do not: a mutex taken within its time hands over
// like any other, and so does a wait that ends in time.
// NO RACE
// TSAN: it does not know threads.h
#include <threads.h>
#include <time.h>

#include "invisible.h"

static mtx_t m, timed;
static cnd_t c, never; /* nobody signals the second: only its deadline ends a wait for it */
static int turn, data, counted;
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

static void pass(int me)
{
    for (int i = 0; i < 20; i++) {
        mtx_lock(&m);
        while (turn != me)
            MUST(cnd_timedwait(&c, &m, &far_away) == thrd_success);
        mtx_unlock(&m);
        data++;
        mtx_lock(&m);
        turn = !me;
        MUST(cnd_timedwait(&never, &m, &past) == thrd_timedout); /* the other may take over meanwhile */
        cnd_broadcast(&c);
        mtx_unlock(&m);
    }
}

static int first(void *arg)
{
    (void)arg;
    MUST(mtx_timedlock(&timed, &far_away) == thrd_success);
    counted++;
    mtx_unlock(&timed);
    MUST(mtx_trylock(&timed) == thrd_success);
    counted++;
    mark();
    after(2);
    mtx_unlock(&timed);
    mark();
    pass(0);
    return 1;
}

static int second(void *arg)
{
    (void)arg;
    after(1);
    MUST(mtx_timedlock(&timed, &past) == thrd_timedout && mtx_trylock(&timed) == thrd_busy);
    mark();
    after(3);
    MUST(mtx_timedlock(&timed, &far_away) == thrd_success);
    counted++;
    mtx_unlock(&timed);
    pass(1);
    return 2;
}

int main(void)
{
    thrd_t a, b;
    int x, y;

    MUST(mtx_init(&m, mtx_timed) == thrd_success &&
         mtx_init(&timed, mtx_timed | mtx_recursive) == thrd_success);
    MUST(cnd_init(&c) == thrd_success && cnd_init(&never) == thrd_success);
    MUST(thrd_create(&a, first, NULL) == thrd_success && thrd_create(&b, second, NULL) == thrd_success);
    MUST(thrd_join(a, &x) == thrd_success && thrd_join(b, &y) == thrd_success);
    MUST(x == 1 && y == 2 && data == 40 && counted == 3);
    cnd_destroy(&c);
    cnd_destroy(&never);
    mtx_destroy(&m);
    mtx_destroy(&timed);
    return 0;
}
