// The bytes of one word have different last writers; each is checked against its own.
#include "invisible.h"

union {
    unsigned int word;
    unsigned char byte[4];
} u;

THREAD(first)
{
    u.byte[0] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    u.byte[3] = 2;
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);

    join(b);
    after(2);
    use(u.byte[3]);
    use(u.byte[1]);
    use(u.word); // RACE a:read
    join(a);
    return 0;
}
