// A 16-byte vector store covers all its lanes and nothing beyond.
#include "invisible.h"

typedef int v4 __attribute__((vector_size(16)));
struct {
    v4 before, vector, behind;
} s;

THREAD(first)
{
    v4 value = {1, 2, 3, 4};

    s.vector = value; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    s.before[3] = 1;
    s.behind[0] = 1;
    use(((int *)&s.vector)[2]); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
