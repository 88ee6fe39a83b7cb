// A library with thread-local storage of its own, too large for what is left of
// the static block.
static __thread long sums[1024];

static void add(long *p, long n)
{
    for (int i = 0; i < 128; i++)
        p[i] += n;
}

long local_sum(long n)
{
    long *volatile p = sums, all = 0;

    add(p, n);
    for (int i = 0; i < 128; i++)
        all += p[i];
    return all;
}
