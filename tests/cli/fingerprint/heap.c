/* One race, on a block of the heap: `hold` writes a member of it, and so does `drop`. run.sh edits this file. */
#include "invisible.h"

#ifndef OPEN
#define OPEN open_conn
#endif

struct conn {
    int id, refs;
};
struct conn *shared;

static void *xalloc(size_t size)
{
    void *block = malloc(size);
    MUST(block);
    return block;
}

HELPER struct conn *open_conn(void)
{
    return xalloc(sizeof(struct conn));
}
HELPER struct conn *open_twin(void)
{
    return xalloc(sizeof(struct conn));
}

static void hold(struct conn *conn)
{
    conn->refs = 1;
}

static void drop(struct conn *conn)
{
    conn->refs = 0;
}

THREAD(holder)
{
    hold(shared);
    mark();
    return NULL;
}

THREAD(dropper)
{
    after(1);
    drop(shared);
    return NULL;
}

int main(void)
{
    shared = OPEN();
    both(holder, dropper);
    return shared->id;
}
