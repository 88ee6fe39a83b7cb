/*
 * hammer.c - threads that do nothing but execute the instructions at which they are stopped, and know what must come of
 * it: hammer THREADS MILLISECONDS [signals]. Every thread works on memory of its own, so that nothing races and each sum is
 * known. The lines marked A and B are the pair.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 256, WORDS = 64 };

struct own {
    long plain, added;
    long from[WORDS], to[WORDS];
    long (*through)(long);
    _Atomic long atomic;
} __attribute__((aligned(128)));

static struct own all[MAX_THREADS];
static atomic_int stop;
static _Thread_local long mine;
static long global_sum; /* written before the threads begin */
static atomic_long signals;

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

__attribute__((noinline)) static long next(long x)
{
    return x + 1;
}

/* One round: everything on these two lines, whatever instructions it becomes. */
__attribute__((noinline)) static void round_of(struct own *o, long i)
{
    /* A */ o->plain += 1, o->added = o->plain + global_sum, atomic_fetch_add(&o->atomic, 1), mine++;
    /* B */ memcpy(o->to, o->from, sizeof(o->to)), o->from[i % WORDS] = o->through(o->to[i % WORDS]);
}

static void *worker(void *arg)
{
    struct own *o = arg;
    o->through = next;
    long i = 0;
    for (; !atomic_load_explicit(&stop, memory_order_relaxed); i++)
        round_of(o, i);
    long sum = 0;
    for (int k = 0; k < WORDS; k++)
        sum += o->from[k];
    if (o->plain != i || (i && o->added != i + global_sum) || o->atomic != i || mine != i || sum != i) {
        printf("after %ld rounds: plain %ld added %ld atomic %ld mine %ld sum %ld\n", i, o->plain, o->added,
               (long)o->atomic, mine, sum);
        exit(1);
    }
    return NULL;
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0)
        continue;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 8;
    long ms = argc > 2 ? atol(argv[2]) : 1000;
    pthread_t threads[MAX_THREADS];
    global_sum = argc;
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, worker, &all[i]);
    for (long t = 0; t < ms; t++) {
        pause_ms(1);
        for (int i = 0; argc > 3 && i < n; i++)
            pthread_kill(threads[i], SIGUSR1);
    }
    stop = 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    puts(argc > 3 && signals == 0 ? "no signal came" : "OK");
    return 0;
}
