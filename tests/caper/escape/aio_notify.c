// A thread that begins when output is done has the pointer from the request.
// RULE: call
#include <aio.h>
#include <signal.h>
#include <sys/mman.h>

#define OWN_FRAME
#include "escape.h"

static void done(union sigval value)
{
    struct node *n = (struct node *)value.sival_ptr;

    after(1);
    n->value = 3; // ESCAPED
    mark();
}

int main(void)
{
    struct aiocb *request = (struct aiocb *)calloc(1, sizeof(*request));
    struct node *n = fresh();

    MUST(request);
    request->aio_fildes = memfd_create("output", 0);
    request->aio_sigevent.sigev_notify = SIGEV_THREAD;
    request->aio_sigevent.sigev_notify_function = done;
    request->aio_sigevent.sigev_value.sival_ptr = n;
    MUST(aio_write(request) == 0);
    mark();
    n->value = 2; // ESCAPED
    after(2);
    return 0;
}
