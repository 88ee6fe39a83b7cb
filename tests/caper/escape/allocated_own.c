// The program has a malloc and a free of its own.
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

static char pool[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t n)
{
    size_t at = __atomic_fetch_add(&used, (n + 15) & ~(size_t)15, __ATOMIC_RELAXED);

    return at + n <= sizeof(pool) ? pool + at : NULL;
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t size)
{
    return malloc(n * size);
}

void *realloc(void *p, size_t n)
{
    void *q = malloc(n);

    if (p && q)
        memcpy(q, p, n);
    return q;
}

static struct node *shared;

THREAD(owner)
{
    struct node *n = fresh();

    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
