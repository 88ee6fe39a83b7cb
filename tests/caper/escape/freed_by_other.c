// The other thread frees what it was given, and the memory is allocated again as private memory.
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

THREAD(owner)
{
    for (int i = 1; i <= 1000; i++) {
        struct node *n = fresh();

        shared = n;
        mark();
        after(2 * i);
    }
    return NULL;
}

THREAD(other)
{
    for (int i = 1; i <= 1000; i++) {
        after(2 * i - 1);
        MUST(shared->seal == SEAL); // ESCAPED
        free(shared);
        mark();
    }
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
