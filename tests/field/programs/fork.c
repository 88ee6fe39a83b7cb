/*
 * fork.c - children of a program that is being chased: they have no breakpoints, whatever the parent has, since they die of
 * the first (SIGILL is as the kernel has it). fork, vfork and a bare clone.
 */
#include "meet.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

/* As the kernel has it: not through libc, which the library stands before. */
static void trap_kills(void)
{
    char action[32];
    memset(action, 0, sizeof(action));
    syscall(SYS_rt_sigaction, SIGILL, action, NULL, 8);
}

static void check(const char *what, int status)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
        printf("%s: status %x\n", what, status);
        exit(1);
    }
}

static void *children(void *arg)
{
    (void)arg;
    await_other();
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            trap_kills();
            for (int k = 0; k < 1000; k++)
                touch();
            _exit(7);
        }
        waitpid(pid, &status, 0);
        check("fork", status);
        pid = vfork();
        if (pid == 0)
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        waitpid(pid, &status, 0);
        check("vfork", status);
        pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* nobody hears of it */
        if (pid == 0) {
            for (int k = 0; k < 1000; k++)
                touch();
            syscall(SYS_exit_group, 7);
        }
        waitpid(pid, &status, 0);
        check("clone", status);
    }
    say_done();
    return NULL;
}

int main(void)
{
    both(children, keep_calling, (void *)touch);
    puts("OK");
    return 0;
}
