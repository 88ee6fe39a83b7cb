// The end of a stream is news as well: who reads it comes after who closed the last descriptor, of a pipe, of
// a socket pair shut down half-way, and of a stream over a pipe.
// NO RACE
// TSAN: it does not order the end of a stream
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

static int ends[2], pair[2], other[2], closed, shut, flushed;

THREAD(closes)
{
    FILE *f = fdopen(other[1], "w");

    closed = 1;
    MUST(close(ends[1]) == 0);
    shut = 1;
    MUST(shutdown(pair[0], SHUT_WR) == 0);
    flushed = 1;
    MUST(f && fclose(f) == 0);
    mark();
    return NULL;
}

THREAD(reads)
{
    FILE *f = fdopen(other[0], "r");
    char c;

    after(1);
    MUST(read(ends[0], &c, 1) == 0 && closed++ == 1);
    MUST(recv(pair[1], &c, 1, 0) == 0 && shut++ == 1);
    MUST(f && fgetc(f) == EOF && flushed++ == 1);
    fclose(f);
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(other) == 0);
    both(closes, reads);
    return 0;
}
