// The creating thread is a party like any other: its writes after pthread_create are not ordered.
#include "invisible.h"

int before, later;

THREAD(child)
{
    before++;
    after(1);
    use(later); // RACE a:read
    return NULL;
}

int main(void)
{
    pthread_t t;

    before = 1;
    t = spawn(child, NULL);
    later = 1; // RACE a:write
    mark();
    join(t);
    before++;
    later++;
    return 0;
}
