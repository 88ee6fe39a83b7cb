// An object filled and published without order: its reader races with its initialisation.
// TSAN: it takes malloc for a write of its own
#include "invisible.h"

struct config {
    int limit;
};

static void *published;

THREAD(maker)
{
    struct config *c = malloc(sizeof(*c));

    c->limit = 10; // RACE a:write
    hide(&published, c);
    mark();
    return NULL;
}

THREAD(user)
{
    struct config *c;

    after(1);
    c = seek(&published);
    use(c->limit); // RACE a:read
    return NULL;
}

int main(void)
{
    both(maker, user);
    return 0;
}
