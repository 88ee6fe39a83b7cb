// With races as exceptions, a program without races runs as ever: every form of access, after a hand-over,
// and none is raised or put off.
// OPTIONS: on_race=exception
// NO RACE
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <deadheat/race.h>

#include "invisible.h"

struct three {
    char c[3];
};
struct large {
    char c[100];
};
typedef uint64_t unaligned __attribute__((aligned(1)));
static _Alignas(64) unsigned char memory[256];
static char *block;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int counter;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)race;
    (void)arg;
    abort();
}

static void make(unsigned char *p, volatile size_t n)
{
    *(volatile uint8_t *)(p + 5) += 1;
    *(volatile uint16_t *)(p + 6) += 1;
    *(volatile unaligned *)(p + 9) += 1;
    *(volatile __int128 *)(p + 32) += 1;
    *(struct three *)(p + 61) = *(struct three *)(p + 101);
    *(struct large *)p = *(struct large *)(p + 100);
    memcpy(p, p + 128, n);
    memmove(p + 1, p, n);
    memset(p + 200, 0, n / 4);
    strcpy((char *)p + 70, "text");
    atomic_fetch_add((_Atomic int *)(p + 240), 1);
    block = realloc(block, n + p[3]);
    memset(block, 1, n);
}

static void work(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&m);
        make(memory, 100);
        pthread_mutex_unlock(&m);
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    }
}

THREAD(first)
{
    work();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work();
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    free(block);
    MUST(atomic_load((_Atomic int *)(memory + 240)) >= 0 && counter == 20);
    return 0;
}
