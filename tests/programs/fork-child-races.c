// A race in a forked child is found by the child, whose exit status says so; the parent has none of its own.
// TSAN: the parent's status differs
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

int x;

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    int status;
    pid_t pid = fork();

    MUST(pid >= 0);
    if (pid == 0) {
        both(first, second);
        exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}
