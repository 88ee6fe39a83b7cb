/*
 * paths.c KIND - two threads that take turns, without races, at accesses of one kind: each kind is settled by another
 * path of the engine.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { N = 1024, TURNS = 6 };

struct record {
    long key, value, rest[6];
};

static long words[N];
static struct record records[N];
unsigned char bytes[64 * N],
    copy[64 * N]; /* not static, or the compiler would see that nobody reads the one */
static atomic_long counter;
static pthread_barrier_t turn;
static const char *kind;

/* Calls, so that each access has a check of its own. */
static __attribute__((noinline)) void put(long *p, long value)
{
    *p = value;
}

static __attribute__((noinline)) long get(const long *p)
{
    return *p;
}

static __attribute__((noinline)) void put_byte(unsigned char *p, unsigned char value)
{
    *p = value;
}

static __attribute__((noinline)) void sweep(struct record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r[i].value += r[i].key;
}

static void work(void)
{
    size_t n = N;
    __asm__("" : "+r"(n)); /* or loops over known lengths are unrolled */
    if (!strcmp(kind, "words")) {
        for (size_t i = 0; i < n; i++)
            put(&words[i], get(&words[n - 1 - i]) + 1);
    } else if (!strcmp(kind, "bytes")) {
        for (size_t i = 0; i < 64 * n; i++)
            put_byte(&bytes[i], (unsigned char)i);
    } else if (!strcmp(kind, "ranges")) {
        for (size_t i = 1; i < n; i++)
            memcpy(copy + i, bytes + 2 * i, i * 20);
    } else if (!strcmp(kind, "strides")) {
        for (size_t i = 0; i < n; i++)
            sweep(records + i, n - i);
    } else if (!strcmp(kind, "atomics")) {
        for (size_t i = 0; i < n; i++)
            atomic_fetch_add_explicit(&counter, atomic_load(&counter) & 1, memory_order_relaxed);
    }
}

static void *body(void *me)
{
    for (int i = 0; i < TURNS; i++) {
        if (i % 2 == (me != NULL))
            work();
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    kind = argc > 1 ? argv[1] : "nothing";
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&t[0], NULL, body, NULL);
    pthread_create(&t[1], NULL, body, &turn);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
