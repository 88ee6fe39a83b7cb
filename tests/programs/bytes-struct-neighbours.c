// Structures of odd sizes side by side, assigned, returned and passed as a whole: a copy touches its own
// bytes, padding included, and none of its neighbour's.
// NO RACE
#include "invisible.h"

struct three {
    char c[3];
};
struct padded {
    long l;
    char c; /* and seven bytes of nothing */
};
struct __attribute__((packed)) packed {
    char c;
    long l;
    short s;
};
struct big {
    int numbers[37];
};
#define EACH(X) X(three) X(padded) X(packed) X(big)

#define ARRAYS(type)                       \
    static struct type type##s[8];         \
    static struct type keep_##type(int i)  \
    {                                      \
        struct type kept = type##s[i];     \
        type##s[i] = type##s[(i + 2) % 8]; \
        return kept;                       \
    }
EACH(ARRAYS)

/* One has the even elements, the other the odd ones. */
static void work(int me)
{
    for (int round = 0; round < 3; round++)
        for (int i = me; i < 8; i += 2) {
#define MOVE(type) type##s[(i + 4) % 8] = keep_##type(i);
            EACH(MOVE)
        }
}

THREAD(first)
{
    work(0);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work(1);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
