// The result of std::async, which another thread waits for.
#define OWN_FRAME
#include <future>

#include "escape.h"

static std::shared_future<struct node *> shared;

static struct node *make()
{
    return fresh();
}

static void *first(void *)
{
    struct node *n = shared.get();

    mark();
    n->value = 2; // ESCAPED
    return nullptr;
}

static void *second(void *)
{
    struct node *n = shared.get();

    after(1);
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    return nullptr;
}

int main()
{
    shared = std::async(std::launch::async, make).share();
    both(first, second);
    return 0;
}
