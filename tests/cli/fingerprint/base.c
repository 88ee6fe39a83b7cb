/* One race, on a global: `count` writes a member of it, `look` reads it. run.sh edits this file by line and word. */
#include "invisible.h"

#ifndef COUNT_FIRST
#define COUNT_FIRST 1
#endif

typedef int cell;
struct counts {
    int hits, miss;
};
struct counts stats;
struct counts other;

static void count(int amount)
{
    *(cell *)&stats.hits = amount;
}

static int look(int more)
{
    int seen = stats.hits;
    return seen + more;
}

THREAD(counter)
{
    after(COUNT_FIRST ? 0 : 1);
    count(1);
    mark();
    return NULL;
}

THREAD(looker)
{
    after(COUNT_FIRST);
    use(look(2));
    mark();
    return NULL;
}

int main(void)
{
    both(counter, looker);
    return 0;
}
