// Functions of libc that keep something between calls, or return memory of their own, under a lock: the lock
// is enough.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <string.h>
#include <time.h>

#include "invisible.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void work(time_t when)
{
    char text[] = "one two three";
    int n = 0;
    struct tm *tm;

    pthread_mutex_lock(&m);
    for (char *token = strtok(text, " "); token; token = strtok(NULL, " "))
        n += (int)strlen(token);
    MUST(n == 11);
    tm = gmtime(&when);
    MUST(tm->tm_year == 71);
    tm->tm_year = 72; /* it is ours until the lock is given back */
    tm = localtime(&when);
    MUST(mktime(tm) == when);
    MUST(strlen(ctime(&when)) == 25);
    MUST(setenv("DEADHEAT_TEST_VARIABLE", "value", 1) == 0);
    MUST(strcmp(getenv("DEADHEAT_TEST_VARIABLE"), "value") == 0);
    pthread_mutex_unlock(&m);
}

THREAD(first)
{
    work(370 * 86400L);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work(400 * 86400L);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
