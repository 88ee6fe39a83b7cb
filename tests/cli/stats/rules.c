/*
 * rules.c - a program without races in which every rule that tests/cli/stats asks for applies. "child": the counts
 * are told by a forked child that does nothing.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 256, EPOCHS = 2000 * 1000, THREADS = 16 /* twice as many as there are read planes */ };
static int shared[N], locked[N];
char text[4096], copy[4096]; /* not static, or the compiler would see that nobody writes the one */
static atomic_int counter, over;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all; /* threads that do not run at once need not share a plane */

/* Calls, or the compiler would check once for a whole loop. */
static __attribute__((noinline)) int get(const int *p)
{
    return *p;
}

static __attribute__((noinline)) void put(int *p, int value)
{
    *p = value;
}

static __attribute__((noinline)) void copy_text(size_t n)
{
    memcpy(copy, text, n);
}

/* Reads that all threads make, words that they take turns at, an atomic counter. */
static void *body(void *unused)
{
    int sum = 0;
    pthread_barrier_wait(&all);
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < N; i++)
            sum += get(&shared[i]);
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        put(&locked[i], get(&locked[i]) + 1);
        pthread_mutex_unlock(&m);
        atomic_fetch_add(&counter, 1);
        for (int again = 0; again < 4; again++)
            sum += atomic_load_explicit(&counter, memory_order_relaxed);
    }
    return sum == -1 ? &m : unused;
}

/* Of what a thread does alone nothing is recorded. */
static void *company(void *unused)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        usleep(1000);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t[THREADS + 1];
    if (pthread_barrier_init(&all, NULL, THREADS) != 0)
        return 1;
    if (pthread_create(&t[THREADS], NULL, company, NULL) != 0)
        return 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, body, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++)
        put(&shared[i], i);
    copy_text(sizeof(text) - 8);
    copy_text(sizeof(text) - 16);
    if (get((int *)(text + 4095 - 6)) != 0) /* across the border of two words */
        return 1;
    /* Each time an epoch, with a number of its own: that is what the collector is for. */
    for (int i = 0; i < EPOCHS; i++) {
        pthread_mutex_lock(&m);
        put(&locked[i % N], i);
        pthread_mutex_unlock(&m);
    }
    if (argc > 1 && fork() != 0)
        wait(NULL);
    atomic_store_explicit(&over, 1, memory_order_relaxed);
    return argc > 2 ? argv[1][0] : 0; /* nobody joins the other thread: it is of no interest */
}
