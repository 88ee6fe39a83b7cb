/* meet.c - one write, many reads, on a global, in the heap, on a stack: meet global|heap|stack|apart|locked|atomic. */
#include "meet.h"

#include <string.h>

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
    else
        both(first, second, NULL);
    puts("OK");
    return 3;
}
