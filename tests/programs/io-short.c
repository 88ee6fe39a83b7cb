// Calls that are given more room than they fill: only what came counts as written, and what lies behind it
// may be another thread's.
// NO RACE
// TSAN: it takes the text that sscanf stores to be as long as it may be
// FLAGS: -D_GNU_SOURCE -fno-builtin
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "invisible.h"

enum { CALLS = 14, ROOM = 64 };
static char buffers[CALLS][ROOM];
static const int filled[CALLS] = {3, 4, 7, 2, 1, 6, 4, 5, 6, 9, 5, 2, 3, 2};
static int ends[2], pair[2], file;
static FILE *f;

THREAD(first)
{
    struct iovec v[2] = {{buffers[3], 2}, {buffers[4], ROOM}}, w = {buffers[13], ROOM};
    struct msghdr h = {.msg_iov = v, .msg_iovlen = 2};

    MUST(read(ends[0], buffers[0], ROOM) == 3);
    MUST(recv(pair[0], buffers[1], ROOM, 0) == 4);
    MUST(recvmsg(pair[0], &h, 0) == 3);
    MUST(fread(buffers[2], 1, ROOM, f) == 7);
    rewind(f);
    MUST(fgets(buffers[5], ROOM, f) == buffers[5]); /* "line\n" and a zero */
    MUST(snprintf(buffers[6], ROOM, "%d", 123) == 3);
    MUST(snprintf(buffers[7], 5, "%s", "longer than that") == 16);
    MUST(sscanf("12 words", "%*d %60s", buffers[8]) == 1);
    MUST(strcpy(buffers[9], "12 words") == buffers[9]);
    MUST(strftime(buffers[10], ROOM, "%Y", &(struct tm){.tm_year = 100}) == 4);
    MUST(pread(file, buffers[11], ROOM, 8) == 2);
    MUST(memccpy(buffers[12], "abc", 'c', ROOM) == buffers[12] + 3);
    MUST(preadv(file, &w, 1, 8) == 2);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    for (int i = 0; i < CALLS; i++)
        for (int j = filled[i]; j < ROOM; j++)
            buffers[i][j] = 'x';
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    MUST(write(ends[1], "abc", 3) == 3 && send(pair[1], "abcd", 4, 0) == 4 &&
         send(pair[1], "abc", 3, 0) == 3);
    f = tmpfile();
    MUST(f && fputs("line\nab", f) >= 0);
    rewind(f);
    file = fileno(tmpfile());
    MUST(write(file, "0123456789", 10) == 10);
    both(first, second);
    return 0;
}
