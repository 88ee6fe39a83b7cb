// The join variants of GNU order like join when they succeed.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "invisible.h"

int x, y;
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

THREAD(first)
{
    x = 1;
    after(1);
    return NULL;
}

THREAD(second)
{
    y = 1;
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    void *result;

    MUST(pthread_tryjoin_np(a, &result) == EBUSY);
    MUST(pthread_timedjoin_np(a, &result, &past) == ETIMEDOUT);
    mark();
    while (pthread_tryjoin_np(a, &result) == EBUSY)
        ;
    x++;
    MUST(pthread_timedjoin_np(b, &result, &far_away) == 0);
    y++;
    return 0;
}
