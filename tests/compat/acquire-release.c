// __tsan_release happens before a later __tsan_acquire of the same address, and of no other.
#include <sanitizer/tsan_interface.h>

#include "../programs/invisible.h"

int ordered, early, late;
char key, other;

THREAD(first)
{
    ordered = 1;
    early = 1; // RACE a:write
    __tsan_release(&key);
    late = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    __tsan_acquire(&other);
    use(early); // RACE a:read
    __tsan_acquire(&key);
    use(ordered);
    use(late); // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
