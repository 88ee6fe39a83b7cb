/* Code that is not compiled by us, and allocates a block. */
#include <stdlib.h>

static void *made;

void plain_make(size_t n)
{
    made = malloc(n);
}

void *plain_made(void)
{
    return made;
}
