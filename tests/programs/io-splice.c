// What splice and tee move from pipe to pipe takes its order along.
// TSAN: it does not know splice
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "invisible.h"

int from[2], to[2], copy[2], x;

THREAD(writer)
{
    struct iovec v = {"ab", 2};

    x = 1;
    MUST(vmsplice(from[1], &v, 1, 0) == 2);
    return NULL;
}

THREAD(mover)
{
    MUST(tee(from[0], copy[1], 2, 0) == 2);
    MUST(splice(from[0], NULL, to[1], NULL, 2, 0) == 2);
    return NULL;
}

THREAD(reader)
{
    char c[2];

    MUST(read(to[0], c, 2) == 2 && read(copy[0], c, 2) == 2);
    MUST(x == 1);
    x = 2;
    return NULL;
}

int main(void)
{
    pthread_t t;

    MUST(pipe(from) == 0 && pipe(to) == 0 && pipe(copy) == 0);
    t = spawn(mover, NULL);
    both(writer, reader);
    join(t);
    return 0;
}
