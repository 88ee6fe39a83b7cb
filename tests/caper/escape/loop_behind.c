// Questions that wait for the end of a loop: of one that counts, of one that walks, of one in another, of one with two ways out.
// FLAGS: -O2 -fno-unroll-loops
#define OWN_FRAME
#include "escape.h"

enum { N = 100 };

static long *shared, *possibly_own;
static volatile long sink;

NOINLINE long *make(void)
{
    long *a = (long *)malloc(N * sizeof(*a));

    MUST(a);
    for (long i = 0; i < unknown(N); i++)
        a[i] = i + 1; // PRIVATE
    return a;
}

NOINLINE void count(long *a, long n)
{
    for (long i = 0; i < n; i++)
        a[i] ^= 1; // ESCAPED
}

NOINLINE void walk(const long *a)
{
    long sum = 0;

    while (*a != N) // ESCAPED
        sum += *a++;
    sink = sum;
}

NOINLINE void twice(long *a, long n)
{
    for (long k = 0; k < n; k++)
        for (long i = 0; i < n; i++)
            a[i] += k; // ESCAPED
}

NOINLINE long find(const long *a, long n, long what)
{
    for (long i = 0; i < n; i++) {
        long found = a[i]; // ESCAPED
        if (found == what)
            return i;
    }
    return -1;
}

THREAD(owner)
{
    long *a = make(), *own = make();

    if (unknown(0))
        possibly_own = own;
    shared = a;
    mark();
    count(a, unknown(10));
    count(a, unknown(10));
    walk(a);
    sink = find(a, unknown(N), 7);
    twice(a, unknown(3));
    for (long i = 0; i < unknown(N); i++)
        own[i] = 5; // PRIVATE
    after(2);
    return NULL;
}

THREAD(other)
{
    after(1);
    (unknown(0) ? possibly_own : shared)[N - 2] = 3; // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
