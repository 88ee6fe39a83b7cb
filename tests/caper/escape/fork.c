// A process that was forked has threads of its own, and what it finds counts.
#define OWN_FRAME
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

static struct node *shared;

THREAD(owner)
{
    struct node *n = fresh();

    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        both(owner, other);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
