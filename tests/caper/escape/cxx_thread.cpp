// The argument of a std::thread.
// RULE: thread,call,store
#define OWN_FRAME
#include <thread>

#include "escape.h"

static void other(struct node *n, long)
{
    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
}

int main()
{
    struct node *n = fresh();
    std::thread t(other, n, 1);

    n->value = 2; // ESCAPED
    t.join();
    return 0;
}
