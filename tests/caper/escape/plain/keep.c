/* Code that is not compiled by us: it keeps pointers, hands them out, and calls back. */
#include <string.h>

static void *kept[8];

void plain_keep(int i, void *p)
{
    kept[i] = p;
}

/* What p points to. */
void plain_keep_content(int i, void **p)
{
    kept[i] = p[1];
}

void *plain_get(int i)
{
    return kept[i];
}

void plain_keep_result(int i, void *(*make)(void))
{
    kept[i] = make();
}

/* The function stores where it is told. */
void plain_keep_by_pointer(int i, void (*make)(void **))
{
    void *here;

    make(&here);
    kept[i] = here;
}

struct pair {
    long first;
    void *second;
};

void plain_keep_pair(int i, struct pair (*make)(void))
{
    kept[i] = make().second;
}

void *plain_same(void *p)
{
    return p;
}
