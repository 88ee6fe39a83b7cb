// Thrown and caught in one function, by type and by base: the racing write is not made, destructors run.
// FLAGS: --dh-exceptions
// OPTIONS: on_race=exception
#include <cstring>
#include <mutex>

#include <deadheat/race.h>

#include "invisible.h"

int x, y;
static int caught;
static std::mutex m;

THREAD(first)
{
    x = 1; // RACE a:write
    y = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    try {
        x = 2; // RACE a:write
        caught = 100;
    } catch (const deadheat::data_race &race) {
        MUST(race.record().second.address == (uintptr_t)&x && race.record().first.kind == DH_RACE_WRITE);
        MUST(strcmp(race.what(), "data race: a write to memory that another thread wrote") == 0);
        caught++;
    }
    try {
        std::lock_guard<std::mutex> held(m);
        y = 2; // RACE b:write
        caught = 100;
    } catch (const std::exception &e) {
        caught++;
    }
    MUST(m.try_lock()); /* the guard was destroyed */
    m.unlock();
    return NULL;
}

int main()
{
    both(first, second);
    MUST(caught == 2 && x == 1 && y == 1);
    return 0;
}
