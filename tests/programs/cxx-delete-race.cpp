// delete of an object another thread still reads.
#include <thread>

#include "invisible.h"

struct Node {
    int value = 3;
};

int main()
{
    Node *node = new Node;
    std::thread reader([=] {
        use(node->value); // RACE a:read
        mark();
    });
    std::thread deleter([=] {
        after(1);
        delete node; // RACE a:free
    });

    reader.join();
    deleter.join();
    return 0;
}
