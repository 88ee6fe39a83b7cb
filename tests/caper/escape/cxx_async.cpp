// What the function of std::async has captured.
// RULE: call,thread,store,transitive
#define OWN_FRAME
#include <future>

#include "escape.h"

int main()
{
    struct node *n = fresh();
    auto later = std::async(std::launch::async, [n] {
        MUST(n->seal == SEAL);
        n->value = 3; // ESCAPED
    });

    n->value = 2; // ESCAPED
    later.wait();
    return 0;
}
