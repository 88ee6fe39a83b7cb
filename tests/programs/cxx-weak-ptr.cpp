// weak_ptr: the last owner finds that no observer is left, and frees their common counters. libstdc++ finds that
// out in a way that orders nothing, unless it is told of a race detector (docs/guide/compat.md).
// NO RACE
#include <memory>

#include "invisible.h"

static std::weak_ptr<int> observer;

THREAD(watch)
{
    observer.reset();
    mark();
    return NULL;
}

int main()
{
    auto thing = std::make_shared<int>(1);

    observer = thing;
    pthread_t t = spawn(watch, NULL);
    after(1);
    thing.reset();
    join(t);
    return 0;
}
