// In a forked child the stacks of the threads that are gone are used again; their history must be gone too.
// NO RACE
// TSAN: it forbids threads in the child of a threaded program
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

__attribute__((noinline)) static void scribble(volatile char *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (char)i;
}

THREAD(bystander)
{
    char local[4096];

    scribble(local, sizeof(local));
    mark();
    after(100);
    return NULL;
}

THREAD(child_work)
{
    char local[4096];

    scribble(local, sizeof(local));
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int status;
    pid_t pid;

    for (int i = 0; i < 3; i++)
        t[i] = spawn(bystander, NULL);
    after(3);
    pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        both(child_work, child_work);
        exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    for (int i = 0; i < 97; i++)
        mark();
    for (int i = 0; i < 3; i++)
        join(t[i]);
    return 0;
}
