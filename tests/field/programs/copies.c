/*
 * copies.c - one call of the C library that accesses what its arguments name, and many accesses to one of these bytes: copies
 * memcpy|memmove|memset|memcmp|memchr|tail|source|short|behind. With `short` and `behind` the two never touch the same bytes.
 */
#include "meet.h"

enum { SIZE = 64, AT = 40 };
static unsigned char shared[SIZE], other[SIZE];
static unsigned char *target = shared, *source = other;
static volatile size_t size = SIZE;
static volatile unsigned char value;
static const char *what;

/* The compiler makes a jump of the call at the end. */
__attribute__((noinline)) static void *tail(unsigned char *to, const unsigned char *from, size_t n)
{
    return memcpy(to, from, n); // TAIL
}

static void *first(void *arg)
{
    size_t n = size;
    unsigned char *to = target;
    const unsigned char *from = source;
    int found = 0;
    await_other();
    if (strcmp(what, "memmove") == 0)
        memmove(to, from, n); // MEMMOVE
    else if (strcmp(what, "memset") == 0)
        memset(to, 7, n); // MEMSET
    else if (strcmp(what, "memcmp") == 0)
        found = memcmp(to, from, n) == 0; // MEMCMP
    else if (strcmp(what, "memchr") == 0)
        found = memchr(to + AT, 255, n - AT) != NULL; // MEMCHR
    else if (strcmp(what, "tail") == 0)
        tail(to, from, n);
    else
        memcpy(to, from, n); // MEMCPY
    value = found != 0;
    say_done();
    return arg;
}

static void *second(void *arg)
{
    while (!is_done())
        *(volatile unsigned char *)&shared[AT] = 1; // SECOND
    return arg;
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "memcpy";
    if (strcmp(what, "source") == 0) {
        target = other;
        source = shared;
    }
    if (strcmp(what, "short") == 0)
        size = AT;
    if (strcmp(what, "behind") == 0) {
        target = shared + AT + 1;
        size = SIZE - AT - 1;
    }
    both(first, second, NULL);
    puts(shared[AT] <= 7 ? "OK" : "?");
    return 3;
}
