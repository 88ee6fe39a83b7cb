/*
 * client.c - a command that runs alongside a program which does not end by itself, such as a server: it
 * starts when the program does, and when it has ended, the program is asked to end, by SIGTERM.
 *
 * An intermediate process waits for the client, and does nothing else. It refers to the program by a
 * descriptor, because the pid may have been reused. The client starts when the program does, and has to wait
 * itself until the program responds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"

static const char *command; /* for the shell; NULL: there is no client */
static pid_t between;       /* 0: none */
static int *asked;          /* shared with it: the program was asked to end */

void dh_cli_client_set(const char *text)
{
    command = text;
}

/* Others must not inherit the descriptors of this command, with their locks. */
static void let_go(int program)
{
    enum { PROGRAM = 3 };
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    if (program != PROGRAM)
        dup2(program, PROGRAM);
    close_range(PROGRAM + 1, ~0U, 0);
    fcntl(PROGRAM, F_SETFD, FD_CLOEXEC);
    dh_cli_child_signals();
}

_Noreturn static void be_between(int program, pid_t parent)
{
    int status;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    let_go(program);
    pid_t client = fork();
    if (client == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (client > 0)
        while (waitpid(client, &status, 0) < 0)
            ;
    __atomic_store_n(asked, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_pidfd_send_signal, 3, SIGTERM, NULL, 0);
    _exit(0);
}

void dh_cli_client_start(pid_t pid)
{
    if (!command)
        return;
    if (!asked) {
        asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (asked == MAP_FAILED)
            dh_util_no_memory();
    }
    *asked = 0;
    int program = (int)syscall(SYS_pidfd_open, pid, 0);
    if (program < 0)
        return;
    pid_t self = getpid();
    between = fork();
    if (between == 0)
        be_between(program, self);
    if (between > 0)
        setpgid(between, between); /* in both processes, whichever is first */
    else
        between = 0;
    close(program);
}

int dh_cli_client_stop(int status)
{
    if (!between)
        return status;
    kill(-between, SIGKILL);
    waitpid(between, NULL, 0);
    between = 0;
    bool as_asked = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && *asked;
    return as_asked ? 0 : status;
}
