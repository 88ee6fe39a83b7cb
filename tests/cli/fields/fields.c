/* Members of one structure, of five sizes, filled by one thread and used by another; each pair of accesses is a race.
 * run.sh names the lines. */
#include "../../programs/invisible.h"

typedef int four_ints __attribute__((vector_size(16)));

struct mixed {
    long long_one;
    int four;
    short half;
    char byte;
    four_ints vector;
};
struct mixed mixed;

THREAD(first)
{
    mixed.long_one = 1;
    mixed.four = 2;
    mixed.half = 3;
    mixed.byte = 4;
    mixed.vector = (four_ints){5, 6, 7, 8};
    mark();
    return NULL;
}
THREAD(second)
{
    after(1);
    struct mixed *p = &mixed;
    long sum = p->long_one;
    sum += p->four;
    p->half = 30;
    p->byte = 40;
    p->vector = (four_ints){50, 60, 70, 80};
    use(sum);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
