// Structures of twelve bytes of which eight are accessed as one: half of them are two words that are no pair
// of eight aligned bytes, and now and then they lie in two lines of the cache.
// FLAGS: -fno-strict-aliasing
#include <stdint.h>

#include "invisible.h"

typedef uint64_t eight __attribute__((aligned(4)));
struct block {
    eight motion;
    uint32_t where;
};
_Static_assert(sizeof(struct block) == 12, "no padding");

enum { BLOCKS = 64 };
static _Alignas(64) struct block blocks[BLOCKS];

/* Every second one of those from 8 on. */
static void work(int me)
{
    for (int round = 0; round < 3; round++)
        for (int i = 8 + me; i < BLOCKS; i += 2)
            *(volatile eight *)&blocks[i].motion += 1;
}

THREAD(first)
{
    work(0);
    *(volatile eight *)&blocks[1].motion = 1; // RACE a:write
    *(volatile eight *)&blocks[5].motion = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    work(1);
    after(1);
    blocks[1].where = 2;
    ((volatile uint32_t *)&blocks[1].motion)[1] = 2; // RACE a:write
    use(*(volatile eight *)&blocks[5].motion);       // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
