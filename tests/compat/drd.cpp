// The macros of DRD that others do not have, in C++.
#include <valgrind/drd.h>

#include "../programs/invisible.h"

static int ignored, stopped, read_so;
ANNOTATE_BENIGN_RACE_STATIC(ignored, "wanted");

THREAD(first)
{
    ignored = 1;
    stopped = 1; // RACE s:write
    read_so = 1; // RACE r:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(ignored);
    use(stopped); // RACE s:read
    use(ANNOTATE_UNPROTECTED_READ(read_so));
    use(read_so); // RACE r:read
    return NULL;
}

int main()
{
    DRD_IGNORE_VAR(stopped);
    DRD_STOP_IGNORING_VAR(stopped);
    both(first, second);
    return 0;
}
