// A thread of C++ is ended in front of its write: unwound, so that destructors run, if it was compiled for
// that.
// FLAGS: --dh-exceptions
// OPTIONS: on_race=exception:race_action=thread
#include <deadheat/race.h>

#include "invisible.h"

int x;
static int destroyed, caught;

struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

__attribute__((noinline)) static void change()
{
    Guard guard;
    x = 2; // RACE a:write
    abort();
}

THREAD(second)
{
    after(1);
    try {
        change();
    } catch (const std::exception &) {
        caught++;
    } catch (...) {
        destroyed++; /* it passes here on its way, and must go on */
        throw;
    }
    return NULL;
}

int main()
{
    pthread_t one = spawn(first, NULL), other = spawn(second, NULL);
    MUST(join(one) == NULL && join(other) == PTHREAD_CANCELED);
    MUST(x == 1 && destroyed == 2 && caught == 0);
    return 0;
}
