/* Two workers race on a variable of a function that waits for them, one call further down. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../programs/invisible.h"

struct pair {
    int first, second[4];
};

/* Until the kernel says that the main thread sleeps: it has made its mark, so it does so in pthread_join. */
static void after_main_waits(void)
{
    char path[64], text[256] = "";
    const char *state;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
    do {
        int fd = open(path, O_RDONLY);

        MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && close(fd) == 0);
        state = strrchr(text, ')');
    } while (!state || state[2] != 'S');
}

THREAD(first)
{
    ((struct pair *)arg)->second[2] = 1;
    mark();
    return NULL;
}

THREAD(second)
{
    after(2);
    after_main_waits();
    ((struct pair *)arg)->second[2] = 2;
    return NULL;
}

__attribute__((noinline)) static void wait_for(pthread_t a, pthread_t b)
{
    mark();
    join(b);
    join(a);
}

__attribute__((noinline)) static int share(void)
{
    struct pair shared = {0};
    char room[3000];

    use((long)room);
    wait_for(spawn(first, &shared), spawn(second, &shared));
    return shared.second[2];
}

int main(void)
{
    return share() - 2;
}
