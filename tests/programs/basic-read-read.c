// Reads never race, however many.
// NO RACE
#include "invisible.h"

int x = 7;

THREAD(reader)
{
    for (int i = 0; i < 100; i++)
        use(x);
    mark();
    after(2);
    use(x);
    return NULL;
}

int main(void)
{
    both(reader, reader);
    use(x);
    return 0;
}
