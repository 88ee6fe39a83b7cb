// An unaligned access that crosses a word (and a cell) races with its last byte and not with the next.
#include "invisible.h"

struct __attribute__((packed)) {
    char head[6];
    int middle; /* bytes 6 to 9 */
    char tail[6];
} s;

THREAD(first)
{
    s.middle = -1; // RACE a:write b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    s.head[5] = 1;
    s.tail[0] = 2;
    use(((char *)&s)[6]); // RACE b:read
    ((char *)&s)[9] = 3;  // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
