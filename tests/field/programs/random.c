/*
 * random.c - for accesses that are chosen at random, of which there are few enough that each is chosen: two threads take
 * turns at many rounds, and who is ahead goes on accessing until the other has come as far. So whoever waits at an access
 * to what both share is met. Where many others want the processors, a turn may take long, so there is an end after some seconds
 * in any case. random race|apart|kernel|library|mutex|builtin|foreign [ROUNDS]: what the other does to the same bytes. The last
 * is code that the static analysis does not see: this file, compiled with -DFOREIGN, without it.
 */
#ifdef FOREIGN
void add_foreign(volatile int *cell)
{
    ++*cell; // FOREIGN
}
#else
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int cells[2][16];
static atomic_int rounds[2];
static const char *what;
static int n_rounds = 50000;
enum { MOST_S = 20 };
static time_t began;
static atomic_bool over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#pragma weak add_foreign
void add_foreign(volatile int *cell);

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
    } else if (me == 1 && what[0] == 'f') {
        add_foreign(cells[0]);
    } else if (what[0] == 'b' && me == 0) {
        __atomic_store_n(cells[0], 1, __ATOMIC_RELEASE);
    } else if (what[0] == 'b') {
        (void)__atomic_load_n(cells[0], __ATOMIC_ACQUIRE); // BUILTIN
    } else if (what[0] == 'm') {
        pthread_mutex_lock(&lock);
        ++cells[0][1]; // LOCKED
        pthread_mutex_unlock(&lock);
    } else {
        add(cells[what[0] == 'a' ? me : 0]);
    }
}

static void *work(void *arg)
{
    int me = arg != NULL; // FRAME
    for (int i = 0; i < n_rounds && !atomic_load(&over); i++) {
        touch(me);
        while (atomic_load(&rounds[!me]) < i && !atomic_load(&over)) {
            sched_yield();
            touch(me);
            if (time(NULL) - began > MOST_S)
                atomic_store(&over, 1);
        }
        atomic_fetch_add(&rounds[me], 1); // ATOMIC
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    what = argc > 1 ? argv[1] : "race";
    n_rounds = argc > 2 ? atoi(argv[2]) : n_rounds;
    began = time(NULL);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, &b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("OK");
    return 3;
}
#endif
