// fork and exec of something else entirely, with output flushed by it.
// NO RACE
// OUTPUT: from the child
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

THREAD(runner)
{
    int status;
    pid_t pid = fork();

    MUST(pid >= 0);
    if (pid == 0) {
        execl("/bin/echo", "echo", "from the child", NULL);
        _exit(127);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    return NULL;
}

int main(void)
{
    join(spawn(runner, NULL));
    return 0;
}
