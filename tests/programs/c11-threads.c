// The threads of C11: create, join with a result, detach, mutexes of every kind, call_once, storage.
// NO RACE
// TSAN: it does not know threads.h
#include <threads.h>
#include <time.h>

#include "invisible.h"

mtx_t plain, recursive, timed;
once_flag once = ONCE_FLAG_INIT;
tss_t key;
int count, prepared, destroyed;
static const struct timespec far_away = {1L << 33, 0};

static void prepare(void)
{
    prepared = 1;
}

static void destroy(void *value)
{
    mtx_lock(&plain);
    destroyed += *(int *)value;
    mtx_unlock(&plain);
    free(value);
}

static int worker(void *arg)
{
    int *mine = malloc(sizeof(int));

    *mine = 1;
    tss_set(key, mine);
    call_once(&once, prepare);
    MUST(prepared == 1);
    mtx_lock(&plain);
    count++;
    mtx_unlock(&plain);
    mtx_lock(&recursive);
    mtx_lock(&recursive);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    MUST(mtx_timedlock(&timed, &far_away) == thrd_success);
    mtx_unlock(&timed);
    while (mtx_trylock(&plain) != thrd_success)
        thrd_yield();
    count++;
    mtx_unlock(&plain);
    if (arg)
        thrd_exit(7);
    return 8;
}

int main(void)
{
    thrd_t a, b;
    int result;

    MUST(mtx_init(&plain, mtx_plain) == thrd_success);
    MUST(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    MUST(mtx_init(&timed, mtx_timed) == thrd_success);
    MUST(tss_create(&key, destroy) == thrd_success);
    MUST(thrd_create(&a, worker, NULL) == thrd_success);
    MUST(thrd_create(&b, worker, &count) == thrd_success);
    MUST(thrd_join(a, &result) == thrd_success && result == 8);
    MUST(thrd_join(b, &result) == thrd_success && result == 7);
    MUST(count == 4 && prepared == 1 && destroyed == 2);
    mtx_destroy(&plain);
    return 0;
}
