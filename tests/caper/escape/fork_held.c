// What was private before a fork is private in the parent and in the child, each for itself.
// RULE: store
#define OWN_FRAME
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

static struct node *shared, *given;

THREAD(owner)
{
    struct node *n = given;

    shared = n->next;
    mark();
    shared->value = 2; // ESCAPED
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
    struct node *n = fresh(), *inner = fresh();
    pid_t child;

    n->next = inner;
    child = fork();
    if (child == 0) {
        given = n;
        both(owner, other);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    prepare(n);
    return 0;
}
