// Functions of libc that keep nothing between calls, or where they are told to, used by two threads at once,
// each with memory of its own: dates, tokens, numbers, sorting, errors, directories, addresses.
// NO RACE
// TSAN: it looks at what libc does for itself
// FLAGS: -D_GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "invisible.h"

static int by_value(const void *a, const void *b, void *calls)
{
    ++*(int *)calls;
    return *(const int *)a - *(const int *)b;
}

static void work(int me)
{
    struct addrinfo *found, hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    char text[64] = "a,b;c", address[64], *save, *token, *end;
    int numbers[50], calls = 0, n = 0;
    struct drand48_data state;
    unsigned seed = me;
    time_t now = 86400 * 365L * (me + 1);
    struct tm tm, back;
    struct in_addr in;
    double d;
    DIR *dir;

    MUST(localtime_r(&now, &tm) && gmtime_r(&now, &back) && mktime(&tm) == now);
    MUST(asctime_r(&back, address) && ctime_r(&now, address) && strptime("1999", "%Y", &tm) &&
         tm.tm_year == 99);
    for (token = strtok_r(text, ",;", &save); token; token = strtok_r(NULL, ",;", &save))
        n++;
    MUST(n == 3 && strtol("12x", &end, 10) == 12 && *end == 'x' && strtod("2.5", NULL) == 2.5);
    srand48_r(me, &state);
    for (int i = 0; i < 50; i++) {
        MUST(drand48_r(&state, &d) == 0);
        numbers[i] = rand_r(&seed) % 1000 + (int)d;
    }
    qsort_r(numbers, 50, sizeof(int), by_value, &calls);
    for (int i = 1; i < 50; i++)
        MUST(numbers[i - 1] <= numbers[i]);
    MUST(calls > 0 && strerror_r(ENOENT, text, sizeof text));
    MUST((dir = opendir("/")));
    for (n = 0; readdir(dir);)
        n++;
    MUST(n > 2 && closedir(dir) == 0);
    MUST(inet_pton(AF_INET, "127.0.0.1", &in) == 1 && inet_ntop(AF_INET, &in, address, sizeof address));
    MUST(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
    freeaddrinfo(found);
    MUST(snprintf(text, sizeof text, "%s %5.2f %ls", address, 1.5, L"wide") > 0);
}

THREAD(first)
{
    work(1);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work(2);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
