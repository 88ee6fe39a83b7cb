// Asynchronous I/O: whoever learns that a request is done is ordered after the one who made it.
// TSAN: it does not know aio
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "invisible.h"

static struct aiocb out, in;
static char text[16] = "asynchronous", copy[16];
static int fd, x;

static void wait_for(struct aiocb *a, ssize_t bytes)
{
    const struct aiocb *list[] = {a};

    while (aio_error(a) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    MUST(aio_return(a) == bytes);
}

THREAD(asks)
{
    x = 1;
    out = (struct aiocb){.aio_fildes = fd, .aio_buf = text, .aio_nbytes = sizeof(text)};
    MUST(aio_write(&out) == 0);
    mark();
    after(2);
    wait_for(&in, sizeof(copy));
    MUST(memcmp(copy, text, sizeof(copy)) == 0 && x == 2);
    return NULL;
}

THREAD(fetches)
{
    struct aiocb *list[] = {NULL, &in};

    after(1);
    wait_for(&out, sizeof(text));
    text[0]++;
    text[0]--;
    x++;
    in = (struct aiocb){
        .aio_fildes = fd, .aio_buf = copy, .aio_nbytes = sizeof(copy), .aio_lio_opcode = LIO_READ};
    MUST(lio_listio(LIO_NOWAIT, list, 2, NULL) == 0);
    mark();
    return NULL;
}

int main(void)
{
    fd = memfd_create("file", 0);
    MUST(fd >= 0);
    both(asks, fetches);
    return 0;
}
