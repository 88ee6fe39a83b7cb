// A number that is given out again was closed before, whatever it now stands for.
// NO RACE
// TSAN: it does not take closing for an order
// FLAGS: -D_GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "invisible.h"

enum { KINDS = 7 };
int table[1024];

static int fresh(int kind)
{
    char path[] = "/tmp/deadheat-test-XXXXXX", name[64];
    sigset_t none;
    int fd;

    switch (kind) {
    case 0:
        return timerfd_create(CLOCK_MONOTONIC, 0);
    case 1:
        sigemptyset(&none);
        return signalfd(-1, &none, 0);
    case 2:
        return inotify_init();
    case 3:
        return inotify_init1(IN_CLOEXEC);
    case 4:
        return memfd_create("x", 0);
    case 5:
        fd = mkstemp(path);
        unlink(path);
        return fd;
    default:
        snprintf(name, sizeof name, "/deadheat-test-%ld", (long)getpid());
        fd = shm_open(name, O_CREAT | O_RDWR, 0600);
        shm_unlink(name);
        return fd;
    }
}

THREAD(first)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int fd = fresh(kind);

        MUST(fd >= 0);
        table[fd]++;
        close(fd);
        mark();
        after(2 * kind + 2);
    }
    return NULL;
}

THREAD(second)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int fd;

        after(2 * kind + 1);
        fd = fresh(kind);
        MUST(fd >= 0 && table[fd] > 0);
        table[fd]++;
        close(fd);
        mark();
    }
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
