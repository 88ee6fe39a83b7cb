// The buffer of an asynchronous request belongs to it from the start to the end.
// TSAN: it does not know aio
// FLAGS: -D_GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "invisible.h"

static struct aiocb out, in;
static char text[16], copy[16], late[16];
static int fd;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void wait_for(struct aiocb *a, ssize_t bytes)
{
    while (aio_error(a) == EINPROGRESS)
        usleep(100);
    MUST(aio_return(a) == bytes); // RACE b:write c:write
}

THREAD(first)
{
    out = (struct aiocb){.aio_fildes = fd, .aio_buf = text, .aio_nbytes = 8};
    in = (struct aiocb){.aio_fildes = fd, .aio_buf = copy, .aio_nbytes = 8};
    MUST(aio_write(&out) == 0); // RACE a:read
    wait_for(&out, 8);
    MUST(aio_read(&in) == 0);
    wait_for(&in, 8);
    in.aio_buf = late;
    pthread_mutex_lock(&m);
    MUST(aio_read(&in) == 0);
    pthread_mutex_unlock(&m);
    mark();
    after(2);
    wait_for(&in, 8);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&m); // ordered after the request, not after its end
    use(late[1]);           // RACE c:read
    pthread_mutex_unlock(&m);
    mark();
    after(3);
    return NULL;
}

THREAD(third)
{
    after(3);
    text[8] = copy[8] = 1;
    text[7] = 1; // RACE a:write
    copy[7] = 1; // RACE b:write
    return NULL;
}

int main(void)
{
    pthread_t t;

    fd = memfd_create("file", 0);
    MUST(fd >= 0);
    t = spawn(third, NULL);
    both(first, second);
    join(t);
    return 0;
}
