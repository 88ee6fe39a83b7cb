// What threads did before a fork is over in the child: whether they go on in the parent, have ended without
// being joined, or were detached, their accesses happen before the child's.
// NO RACE
// TSAN: it forbids threads in the child of a threaded program
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

int by_live, by_ended, by_detached, by_dead_reader;

THREAD(live)
{
    by_live = 1;
    use(by_dead_reader);
    mark();
    after(100);
    return NULL;
}

THREAD(ended)
{
    by_ended = 1;
    use(by_dead_reader);
    mark();
    return NULL;
}

THREAD(detached)
{
    by_detached = 1;
    mark();
    return NULL;
}

THREAD(child_work)
{
    use(by_live + by_ended + by_detached);
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(live, NULL), e = spawn(ended, NULL), d;
    int status;
    pid_t pid;

    after(2);
    d = spawn(detached, NULL);
    pthread_detach(d);
    after(3);
    pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        both(child_work, child_work);
        by_live = by_ended = by_detached = by_dead_reader = 2;
        exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    for (int i = 0; i < 97; i++)
        mark();
    join(t);
    join(e);
    return 0;
}
