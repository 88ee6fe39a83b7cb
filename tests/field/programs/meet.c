/*
 * meet.c - one write, many reads: meet global|heap|stack|apart|locked|atomic; or many writes that nobody compiled for us, by
 * libc and by the kernel: meet memset|kernel.
 */
#include "meet.h"

#include <string.h>
#include <sys/random.h>

struct pair {
    int a, b;
} global;
static struct pair *shared = &global, *other = &global;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int use_lock;
volatile int sink;

static void *first(void *arg)
{
    struct pair *p = shared;
    (void)arg;
    await_other();
    if (use_lock)
        pthread_mutex_lock(&lock);
    p->b = 1; // FIRST
    if (use_lock)
        pthread_mutex_unlock(&lock);
    say_done();
    return NULL;
}

static void *second(void *arg)
{
    struct pair *p = other;
    (void)arg;
    while (!is_done()) {
        if (use_lock)
            pthread_mutex_lock(&lock);
        sink = p->b; // SECOND
        if (use_lock)
            pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* In libc: the compiler does not know how much. */
static void *set_often(void *arg)
{
    volatile size_t n = sizeof(*other);
    (void)arg;
    while (!is_done())
        memset(other, 7, n);
    return NULL;
}

static void *fill_often(void *arg)
{
    (void)arg;
    while (!is_done())
        if (getrandom(&other->b, sizeof(other->b), 0) < 0)
            abort();
    return NULL;
}

static _Atomic long counter;

static void *add_once(void *arg)
{
    (void)arg;
    await_other();
    atomic_fetch_add(&counter, 1); // ATOMIC-FIRST
    say_done();
    return NULL;
}

static void *add_often(void *arg)
{
    (void)arg;
    while (!is_done())
        atomic_fetch_add(&counter, 1); // ATOMIC-SECOND
    return NULL;
}

int main(int argc, char **argv)
{
    struct pair own = {0, 0}, apart = {0, 0}; // FRAME
    const char *where = argc > 1 ? argv[1] : "global";
    if (strcmp(where, "heap") == 0)
        shared = other = calloc(1, sizeof(*shared)); // GLOBALS
    if (strcmp(where, "stack") == 0)
        shared = other = &own;
    if (strcmp(where, "apart") == 0)
        other = &apart;
    use_lock = strcmp(where, "locked") == 0;
    if (strcmp(where, "atomic") == 0)
        both(add_once, add_often, NULL);
    else if (strcmp(where, "memset") == 0)
        both(first, set_often, NULL);
    else if (strcmp(where, "kernel") == 0)
        both(first, fill_often, NULL);
    else
        both(first, second, NULL);
    puts("OK");
    return 3;
}
