// Calls that are seldom used fill and read buffers as well.
// TSAN: it does not know all of them
// FLAGS: -D_GNU_SOURCE -D_FORTIFY_SOURCE=2
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "invisible.h"

char in[8], out[8] = "abcdefg", line[8], text[8] = "abcdefg", printed[8] = "abcdefg", locked[8] = "abcdefg";
int number, count;
struct epoll_event event;
sem_t s;
static int file, ends[2], instance;
static FILE *stream;

THREAD(first)
{
    in[1] = 1;        // RACE a:write
    out[1] = 'x';     // RACE b:write
    line[1] = 1;      // RACE c:write
    text[1] = 'x';    // RACE d:write
    printed[1] = 1;   // RACE e:write
    number = 1;       // RACE f:write
    count = 1;        // RACE g:write
    event.events = 1; // RACE h:write
    locked[1] = 'x';  // RACE i:write
    mark();
    return NULL;
}

THREAD(second)
{
    struct iovec filled = {in, 4}, sent = {out, 4};
    struct timespec none = {0, 0};
    sigset_t usr1;

    after(1);
    MUST(preadv2(file, &filled, 1, 0, 0) == 4);              // RACE a:write
    MUST(pwritev2(file, &sent, 1, 0, 0) == 4);               // RACE b:read
    MUST(fgets_unlocked(line, sizeof line, stream) == line); // RACE c:write
    MUST(fputs_unlocked(text, stream) >= 0);                 // RACE d:read
    MUST(dprintf(file, "%s", printed) > 0);                  // RACE e:read
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    MUST(sigwait(&usr1, &number) == 0);                        // RACE f:write
    MUST(sem_getvalue(&s, &count) == 0);                       // RACE g:write
    MUST(epoll_pwait2(instance, &event, 1, &none, NULL) == 1); // RACE h:write
    MUST(strfry(locked) == locked);                            // RACE i:write
    return NULL;
}

int main(void)
{
    struct epoll_event want = {.events = EPOLLOUT};

    stream = tmpfile();
    MUST(stream && fputs("a line\n", stream) >= 0);
    rewind(stream);
    file = fileno(tmpfile());
    MUST(write(file, "12345678", 8) == 8 && pipe(ends) == 0);
    instance = epoll_create1(0);
    MUST(epoll_ctl(instance, EPOLL_CTL_ADD, ends[1], &want) == 0);
    sem_init(&s, 0, 3);
    both(first, second);
    return 0;
}
