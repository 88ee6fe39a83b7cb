// A question behind a loop does not speak for what was not done in it: no round, a condition, a way out before.
// FLAGS: -O2 -fno-unroll-loops
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

enum { N = 100 };

static long *shared;
static volatile long sink;

NOINLINE void no_round(long *a, long n)
{
    for (long i = 0; i < n; i++)
        a[i] += 5; // PRIVATE
}

NOINLINE void not_this(long *a, long n)
{
    for (long i = 0; i < n; i++)
        if (unknown(0))
            a[i] = 7; // PRIVATE
}

NOINLINE long out_before(const long *a, long n, const long *to)
{
    long sum = 0;

    for (long i = 0; i < n; i++) {
        if (a[i] == 0) // ESCAPED
            return sum;
        sum += to[i]; // PRIVATE
    }
    return -sum;
}

THREAD(owner)
{
    long *a = (long *)calloc(N, sizeof(*a));

    shared = a;
    mark();
    no_round(a, unknown(0));
    not_this(a, unknown(N));
    sink = out_before(a, unknown(N), a + 1);
    after(2);
    return NULL;
}

THREAD(other)
{
    after(1);
    shared[N - 1] = 3; // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
