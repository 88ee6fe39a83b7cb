/*
 * random.c - for accesses that are chosen at random, of which there are few enough that each is chosen: two threads take
 * turns at ROUNDS rounds, and who is ahead goes on accessing until the other has come as far. So whoever waits at an access
 * to what both share is met. random race|apart|kernel|library: what the other does to the same bytes.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ROUNDS = 50000 };

static int cells[2][16];
static atomic_int rounds[2];
static const char *what;

__attribute__((noinline)) static void add(int *cell)
{
    ++*cell; // FIRST
}

static void touch(int me)
{
    volatile size_t n = sizeof(int);
    if (me == 1 && what[0] == 'k') {
        if (getrandom(cells[0], sizeof(int), 0) < 0)
            abort();
    } else if (me == 1 && what[0] == 'l') {
        memset(cells[0], 7, n);
    } else {
        add(cells[what[0] == 'a' ? me : 0]);
    }
}

static void *work(void *arg)
{
    int me = arg != NULL; // FRAME
    for (int i = 0; i < ROUNDS; i++) {
        touch(me);
        while (atomic_load(&rounds[!me]) < i) {
            sched_yield();
            touch(me);
        }
        atomic_fetch_add(&rounds[me], 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    what = argc > 1 ? argv[1] : "race";
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, &b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("OK");
    return 3;
}
