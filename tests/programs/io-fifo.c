// A FIFO in the file system, opened by each side by its name; and a pipe used through copies of its
// descriptors, made in every way there is.
// NO RACE
// FLAGS: -D_GNU_SOURCE
// TSAN: it does not know what two descriptors have in common
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "invisible.h"

enum { COPIES = 4 };
static char path[64];
static int ends[2], copies[COPIES][2], data, copied[COPIES];

THREAD(writer)
{
    int fd = open(path, O_WRONLY);

    data = 1;
    MUST(write(fd, "!", 1) == 1);
    close(fd);
    for (int i = 0; i < COPIES; i++) {
        copied[i] = i;
        MUST(write(copies[i][1], "!", 1) == 1);
        mark();
        after(2 * i + 2);
    }
    return NULL;
}

THREAD(reader)
{
    int fd = open(path, O_RDONLY);
    char c;

    MUST(read(fd, &c, 1) == 1 && data++ == 1);
    close(fd);
    for (int i = 0; i < COPIES; i++) {
        after(2 * i + 1);
        MUST(read(copies[i][0], &c, 1) == 1 && copied[i]++ == i);
        mark();
    }
    return NULL;
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/deadheat-fifo-%ld", (long)getpid());
    MUST(mkfifo(path, 0600) == 0 && pipe(ends) == 0);
    for (int i = 0; i < 2; i++) {
        copies[0][i] = dup(ends[i]);
        copies[1][i] = dup2(ends[i], 100 + i);
        copies[2][i] = dup3(ends[i], 110 + i, O_CLOEXEC);
        copies[3][i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 120);
        for (int j = 0; j < COPIES; j++)
            MUST(copies[j][i] >= 0);
        close(ends[i]);
    }
    both(writer, reader);
    return unlink(path);
}
