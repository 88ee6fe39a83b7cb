// One race, on a block that the initialiser of a global allocates: code that no function of the source holds.
#include "invisible.h"

#include <vector>

std::vector<int> values(10);

THREAD(first)
{
    values[3] = 1;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    values[3] = 2;
    return NULL;
}

int main()
{
    both(first, second);
}
