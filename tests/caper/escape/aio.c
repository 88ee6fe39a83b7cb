// Asynchronous output: the buffer is a private block with the pointer in it.
// RULE: call,contents
#include <aio.h>
#include <errno.h>
#include <unistd.h>

#include "escape.h"

static int ends[2];

__attribute__((constructor)) static void open_ends(void)
{
    MUST(pipe(ends) == 0);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    struct aiocb *request = (struct aiocb *)calloc(1, sizeof(*request));

    *box = n;
    request->aio_fildes = ends[1];
    request->aio_buf = box;
    request->aio_nbytes = sizeof(*box);
    MUST(aio_write(request) == 0);
    while (aio_error(request) == EINPROGRESS)
        ;
    MUST(aio_return(request) == sizeof(*box));
}

static struct node *receive(void)
{
    struct node *n;

    MUST(read(ends[0], &n, sizeof(n)) == sizeof(n));
    return n;
}
