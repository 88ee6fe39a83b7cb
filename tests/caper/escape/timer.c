// The value of a timer, which a thread of the library hands to a function.
// RULE: call,store,contents
#define OWN_FRAME
#include <signal.h>
#include <time.h>

#include "escape.h"

static void expired(union sigval value)
{
    struct node *n = (struct node *)value.sival_ptr;

    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
    mark();
}

int main(void)
{
    struct node *n = fresh();
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = n};
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    timer_t timer;

    event.sigev_notify_function = expired;
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    MUST(timer_settime(timer, 0, &soon, NULL) == 0);
    n->value = 2; // ESCAPED
    after(1);
    return 0;
}
