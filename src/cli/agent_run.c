/*
 * agent_run.c - `deadheat run --hive`: this process becomes the program, and leaves an agent behind that
 * attends to it. So the process, its exit status, its output, and signals from the terminal are the
 * program's, whatever happens to the agent.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/build.h"
#include "base/control.h"
#include "cli/agent.h"
#include "cli/cmd.h"
#include "util/path.h"

/* Keeps nothing open whose closing others may wait for: no descriptors, no terminal, no directory. */
static void detach(int keep)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    if (keep > 3)
        close_range(3, (unsigned)keep - 1, 0);
    close_range((unsigned)keep + 1, ~0u, 0);
    setsid();
    if (chdir("/") != 0)
        _exit(1);
}

/* Not a child that the program could see. Returns the program's end of the socket, or -1. */
static int leave_agent(struct dh_cli_agent *c, const char *program)
{
    int ends[2];
    pid_t self = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    pid_t between = fork();
    if (between == 0) {
        if (fork() != 0)
            _exit(0);
        detach(ends[0]);
        _exit(dh_agent_attend(&c->settings, program, ends[0], self) == 0 ? 0 : 1);
    }
    close(ends[0]);
    if (between > 0)
        waitpid(between, NULL, 0);
    if (between < 0) {
        close(ends[1]);
        return -1;
    }
    return ends[1];
}

bool dh_cli_agent_is_unwanted(void)
{
    const char *optout = getenv(DH_CONTROL_OPTOUT);
    return optout && *optout && strcmp(optout, "0") != 0;
}

int dh_cli_agent_run(struct dh_cli_agent *c)
{
    char **argv = (char **)c->programs, number[16], id[DH_AGENT_BUILD + 1];
    const char *why, *found;
    if (!c->n_programs)
        return dh_cli_fail("run", "which program? For example: deadheat run --hive=URL -- ./prog");
    found = dh_path_find_program(&c->arena, argv[0]);
    char *program = found ? realpath(found, NULL) : NULL;
    if (program && dh_agent_build_id(&c->arena, program, id, &why) != 0)
        return dh_cli_fail("run", "'%s' %s", argv[0], why); /* which also says how to build it */
    int socket = -1;
    if (program && c->settings.state && !dh_cli_agent_is_unwanted())
        socket = leave_agent(c, program);
    if (socket >= 0) {
        snprintf(number, sizeof(number), "%d%c", socket, DH_CONTROL_AGENT);
        setenv(DH_CONTROL_ENV, number, 1);
        fcntl(socket, F_SETFD, 0);
    }
    execvp(argv[0], argv);
    int status = errno == ENOENT ? 127 : 126;
    dh_cli_fail("run", "cannot run '%s': %s", argv[0], strerror(errno));
    free(program);
    return status;
}
