// Large blocks, in the heap and with a mapping of their own, freed by one thread and given out to another:
// wherever they lie, they are new, at their ends and in the middle.
// NO RACE
#include <malloc.h>

#include "invisible.h"

enum { SIZES = 4 };
static int round_number;
static const size_t sizes[SIZES] = {100 << 10, 256 << 10, 300001, 2 << 20};

static void use_blocks(int value)
{
    for (int i = 0; i < SIZES; i++) {
        char *p = malloc(sizes[i]), *q = i % 2 ? calloc(1, sizes[i]) : aligned_alloc(64, (sizes[i] | 63) + 1);

        MUST(p && q);
        for (size_t at = 0; at < sizes[i]; at += 4093)
            p[at] = q[at] = (char)value;
        p[sizes[i] - 1] = q[sizes[i] - 1] = (char)value;
        free(p);
        free(q);
    }
}

THREAD(first)
{
    use_blocks(1);
    mark();
    return NULL;
}

THREAD(second)
{
    after(round_number);
    use_blocks(2);
    return NULL;
}

int main(void)
{
    for (round_number = 1; round_number <= 2; round_number++) {
        mallopt(M_ARENA_MAX, 1);
        mallopt(M_MMAP_THRESHOLD, round_number == 1 ? 128 << 10 : 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        both(first, second);
    }
    return 0;
}
