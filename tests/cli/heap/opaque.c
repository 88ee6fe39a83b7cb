/* Beside fields.c: it allocates a structure of which it knows the name and no more. */
#include <stdlib.h>

struct opaque;
struct opaque *opaque_new(size_t size);

struct opaque *opaque_new(size_t size)
{
    return calloc(1, size);
}
