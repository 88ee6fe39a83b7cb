// A race at the bottom of a deep recursion, on data owned by the caller at the top.
#include "invisible.h"

long depth_sum;

__attribute__((noinline)) static long descend(int n)
{
    long below;

    if (n == 0) {
        depth_sum++; // RACE a
        return 1;
    }
    below = descend(n - 1);
    use(below);
    return below + 1;
}

THREAD(worker)
{
    after(*(int *)arg);
    MUST(descend(200) == 201);
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
