// An element of a vector, reached through an iterator on one side and by index on the other.
#include <thread>
#include <vector>

#include "invisible.h"

std::vector<int> *numbers;

int main()
{
    numbers = new std::vector<int>(4, 0);
    int *first = numbers->data();
    std::thread writer([=] {
        first[2] = 1; // RACE a:write
        mark();
    });
    std::thread reader([] {
        after(1);
        use((*numbers)[2]); // RACE a:read
    });

    writer.join();
    reader.join();
    return 0;
}
