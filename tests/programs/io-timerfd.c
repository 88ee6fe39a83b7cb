// Setting a timer comes before reading that it expired; what is done after setting it does not.
#include <sys/timerfd.h>
#include <unistd.h>

#include "invisible.h"

static int timer;
int before, behind;

THREAD(first)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};

    before = 1;
    MUST(timerfd_settime(timer, 0, &soon, NULL) == 0);
    behind = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    unsigned long expired;

    after(1);
    MUST(read(timer, &expired, sizeof expired) == sizeof expired && before++ == 1);
    behind = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    MUST((timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
    both(first, second);
    return 0;
}
